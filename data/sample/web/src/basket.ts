/** Client-side state of the basket, kept across page loads. */

export interface BasketLine {
  parcelId: string;
  grams: number;
  cents: number;
}

const STORAGE_SLOT = "parcelworks.basket";

export class Basket {
  private lines: BasketLine[] = [];
  private readonly listeners = new Set<() => void>();

  get size(): number {
    return this.lines.length;
  }

  add(line: BasketLine): void {
    this.lines = [...this.lines.filter((known) => known.parcelId !== line.parcelId), line];
    this.notify();
  }

  remove(parcelId: string): void {
    this.lines = this.lines.filter((line) => line.parcelId !== parcelId);
    this.notify();
  }

  /** Sum of all lines in cents. */
  total(): number {
    return this.lines.reduce((sum, line) => sum + line.cents, 0);
  }

  /** Register for changes; the returned function ends the registration. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private notify(): void {
    this.listeners.forEach((listener) => listener());
  }

  serialise(): string {
    return JSON.stringify(this.lines);
  }

  /** Bring back a saved basket, ignoring content that is not valid. */
  static restore(text: string | null): Basket {
    const basket = new Basket();
    try {
      const saved: unknown = JSON.parse(text ?? "[]");
      if (Array.isArray(saved)) {
        saved.filter(isBasketLine).forEach((line) => basket.add(line));
      }
    } catch {
      // A damaged entry must never keep the page from opening.
    }
    return basket;
  }
}

function isBasketLine(value: unknown): value is BasketLine {
  const line = value as BasketLine;
  return typeof line?.parcelId === "string" && Number.isFinite(line.cents);
}

export function saveBasket(basket: Basket, storage: Storage): void {
  storage.setItem(STORAGE_SLOT, basket.serialise());
}
