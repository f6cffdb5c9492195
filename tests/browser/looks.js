// axe works out the contrast of every text of a page anew, in every view: two thirds of the time that it takes. What looks
// the same has the same contrast, so a look that was found good is remembered here until the page is left.
//
// Two texts look the same if their letters do, if the same paints lie one in another around them, and if nothing else is
// painted where axe looks: in the middle of each of their lines. Of every other text, and of a look that was not worked
// out to be good, axe is asked each time. `axe.beforeRun()` looks at the page as it is now.
(() => {
  const LETTERS = ['color', 'webkitTextFillColor', 'webkitTextStroke', 'textShadow', 'fontSize', 'fontWeight'];
  const EVERYWHERE = [{ left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity }];
  const good = new Set();
  let around = new Map(); // element -> the paints from the root to it, and how many these are
  let boxes = []; // of all that paints: [element, box]

  const or = (usual, value) => (value === usual ? '' : value);

  const paintOf = (element) => {
    const style = getComputedStyle(element);
    if (style.visibility !== 'visible') return '';
    const layers = [
      or('rgba(0, 0, 0, 0)', style.backgroundColor),
      or('none', style.backgroundImage),
      or('1', style.opacity),
      or('auto', style.zIndex),
      or('normal', style.mixBlendMode),
      or('none', style.filter),
      /^(img|svg|canvas|video|iframe|object|embed)$/.test(element.localName) ? element.localName : '',
    ];
    for (const side of ['::before', '::after']) {
      const { content, backgroundColor, backgroundImage, position } = getComputedStyle(element, side);
      if (content !== 'none' && content !== 'normal') layers.push(backgroundColor, backgroundImage, position);
    }
    return layers.some(Boolean) ? layers.join('/') : '';
  };

  axe.beforeRun = () => {
    around = new Map();
    boxes = [];
    for (const element of document.querySelectorAll('*')) {
      const outside = around.get(element.parentElement) ?? { paints: '', count: 0 };
      const paint = paintOf(element);
      around.set(element, paint ? { paints: `${outside.paints}|${paint}`, count: outside.count + 1 } : outside);
      // The first of these two is the colour of the whole canvas.
      const canvas = outside.count === 0 && [document.documentElement, document.body].includes(element);
      if (paint) boxes.push(...[...(canvas ? EVERYWHERE : element.getClientRects())].map((box) => [element, box]));
    }
  };

  const linesOf = (element) => {
    if (element.matches('input, select, textarea')) return [element.getBoundingClientRect()];
    const range = new Range();
    return [...element.childNodes]
      .filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
      .flatMap((text) => {
        range.selectNode(text);
        return [...range.getClientRects()];
      });
  };

  const paintersAt = (x, y) =>
    boxes
      .filter(([, box]) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)
      .map(([painter]) => painter);

  // Nothing for a text that lies outside what is around it, or beneath or upon something else.
  const lookOf = (element) => {
    const lines = linesOf(element);
    const { paints, count } = around.get(element) ?? {};
    const alone = ({ left, top, width, height }) => {
      const painters = paintersAt(left + width / 2, top + height / 2);
      return painters.length === count && painters.every((painter) => painter.contains(element));
    };
    if (lines.length === 0 || !lines.every(alone)) return '';
    const style = getComputedStyle(element);
    return [paints, ...LETTERS.map((name) => style[name])].join(';');
  };

  const contrast = axe._audit.checks['color-contrast'];
  const workOut = contrast.evaluate;
  contrast.evaluate = function evaluate(element, ...others) {
    const look = lookOf(element);
    if (look && good.has(look)) return true;
    let worked = {};
    const data = (said) => this.data((worked = said));
    const result = workOut.call(Object.create(this, { data: { value: data } }), element, ...others);
    // What is not to be seen, or of one letter, is let through without a number, or not at all.
    if (look && result === true && worked.contrastRatio >= parseFloat(worked.expectedContrastRatio)) good.add(look);
    return result;
  };
})();
