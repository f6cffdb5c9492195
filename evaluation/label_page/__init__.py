"""What people should label next: choosing, estimating, drawing."""
