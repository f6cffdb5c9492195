// Storage of the browser, which may be blocked, full or absent: then nothing is remembered, and nothing fails.

// Reads an item of "localStorage" or "sessionStorage"; null where there is none.
export function readItem(area, name) {
  try {
    return window[area].getItem(name);
  } catch {
    return null;
  }
}

// Writes an item, or removes it where the value is null. Returns whether the storage has taken it.
export function writeItem(area, name, value) {
  try {
    if (value === null) window[area].removeItem(name);
    else window[area].setItem(name, value);
    return true;
  } catch {
    return false;
  }
}

// All items of localStorage whose names begin so, as [name, value].
export function itemsFrom(prefix) {
  try {
    return Object.entries(localStorage).filter(([name]) => name.startsWith(prefix));
  } catch {
    return [];
  }
}
