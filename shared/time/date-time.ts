// Parses RFC 3339 times on days that exist. Date.parse accepts `1` as 2001, and February 30 as March 2.

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Epoch milliseconds. Undefined for an invalid time. Pure. */
export function readDateTime(text: string): number | undefined {
  const parts = DATE_TIME.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0] = parts.slice(1).map(Number);
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const at = Date.parse(text);
  return Number.isNaN(at) || day > days ? undefined : at;
}
