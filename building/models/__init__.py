"""Writers, their generation runs, orders and drafts, and the reviewed outputs."""

from building.models.product import Product
from building.models.writer import Writer
from building.models.writing import Draft, Order, Writing

__all__ = ["Draft", "Order", "Product", "Writer", "Writing"]
