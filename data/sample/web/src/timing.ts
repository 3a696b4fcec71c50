/** Helpers that tame functions which are called too often. */

/**
 * Run only after calls have stopped coming for a while. Meant for text fields,
 * where just the last keystroke matters.
 */
export function debounce<A extends unknown[]>(fn: (...args: A) => void, quietMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (...args: A): void => {
    clearTimeout(timer);
    timer = setTimeout(() => fn(...args), quietMs);
  };
}

/**
 * Run at most once per interval while calls keep coming. Meant for scrolling
 * and map dragging, where regular updates are wanted.
 */
export function throttle<A extends unknown[]>(fn: (...args: A) => void, intervalMs: number) {
  let last = -Infinity;
  return (...args: A): void => {
    const now = Date.now();
    if (now - last >= intervalMs) {
      last = now;
      fn(...args);
    }
  };
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
