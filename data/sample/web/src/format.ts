/** Display helpers. Nothing here changes data, only how it looks. */

export function formatMoney(cents: number, currency = "EUR", locale = "en-GB"): string {
  return new Intl.NumberFormat(locale, { style: "currency", currency }).format(cents / 100);
}

export function formatWeight(grams: number): string {
  return grams < 1000 ? `${grams} g` : `${(grams / 1000).toFixed(1)} kg`;
}

/** Say how long ago something happened: "3 hours ago". */
export function relativeTime(then: Date, now: Date = new Date()): string {
  const minutes = Math.round((now.getTime() - then.getTime()) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours ago` : `${Math.round(hours / 24)} days ago`;
}

/** Shorten a long parcel number in the middle so both ends stay readable. */
export function ellipsis(text: string, keep = 12): string {
  if (text.length <= keep) return text;
  const half = Math.floor((keep - 1) / 2);
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}
