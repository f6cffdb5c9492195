"""Writers, what they were asked for, every reply that they gave, and what people made of it."""

from building.models.product import Product
from building.models.writer import Writer
from building.models.writing import Draft, Order, Writing

__all__ = ["Draft", "Order", "Product", "Writer", "Writing"]
