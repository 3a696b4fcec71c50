import { describe, expect, it, vi } from "vitest";
import { Basket } from "../web/src/basket";
import { ellipsis, formatWeight } from "../web/src/format";

function line(parcelId: string, cents: number) {
  return { parcelId, cents, grams: 500 };
}

describe("Basket", () => {
  it("replaces a line with the same parcel id", () => {
    const basket = new Basket();
    basket.add(line("a", 590));
    basket.add(line("a", 640));
    expect(basket.total()).toBe(640);
  });

  it("stops telling a listener that has left", () => {
    const basket = new Basket();
    const listener = vi.fn();
    const leave = basket.subscribe(listener);
    leave();
    basket.add(line("a", 590));
    expect(listener).not.toHaveBeenCalled();
  });

  it("opens empty when the saved text is damaged", () => {
    expect(Basket.restore("{oops").size).toBe(0);
  });
});

describe("format", () => {
  it("keeps both ends of a long number", () => {
    expect(ellipsis("00340434161094000000", 9)).toBe("0034…0000");
    expect(formatWeight(1500)).toBe("1.5 kg");
  });
});
