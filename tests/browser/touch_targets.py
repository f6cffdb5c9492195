"""Phone settings, and a search for touch targets that are too small."""

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


SMALL_TARGETS = """() =>
  [...document.querySelectorAll('.question[data-active] :is(label, button), .sheet-nav button')]
  .filter((target) => target.offsetParent && target.getBoundingClientRect().height < 44)
  .map((target) => target.outerHTML)"""
