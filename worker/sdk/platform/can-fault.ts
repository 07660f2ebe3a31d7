// Checks `can` and `rate` of an adapter, for plain JavaScript. Otherwise a wrong number would make every send fail.
type Fields = Readonly<Record<string, unknown>>;

/** The fault of `can` or `rate` of an adapter; undefined if there is none. */
export function faultOfCan({ can, rate }: { readonly can?: unknown; readonly rate?: unknown }): string | undefined {
  if (!isObject(can) || !isObject(can['text'])) return 'has no can.text: { limit, unit, render }';
  const { limit, unit, render } = can['text'];
  if (!isAtLeast(limit, 1)) return 'can.text.limit has to be a number from 1';
  if (!UNITS.has(unit)) return "can.text.unit has to be 'bytes', 'utf16' or 'codepoints'";
  if (typeof render !== 'function' && !FORMATS.has(render))
    return "can.text.render has to be 'plain', 'markdown', 'html' or a function";
  const { buttons, files } = can;
  if (buttons !== undefined && !isAtLeast(buttons, 0)) return 'can.buttons has to be a number: the most of one message';
  if (files !== undefined && !(isObject(files) && isAtLeast(files['maxBytes'], 0)))
    return 'can.files has to be { maxBytes }';
  if (isObject(files) && files['apart'] !== undefined && typeof files['apart'] !== 'function')
    return 'can.files.apart has to be a function';
  return rate === undefined ? undefined : faultOfRate(rate);
}

function faultOfRate(rate: unknown): string | undefined {
  if (!isObject(rate)) return 'rate has to be { perSecond, perConversation }';
  const { perSecond, perConversation } = rate;
  if (perSecond !== undefined && !isAbove0(perSecond)) return 'rate.perSecond has to be a number above 0';
  if (perConversation === undefined) return undefined;
  return isObject(perConversation) && isAbove0(perConversation['count']) && isAbove0(perConversation['perMs'])
    ? undefined
    : 'rate.perConversation has to be { count, perMs }, numbers above 0';
}

const UNITS: ReadonlySet<unknown> = new Set(['bytes', 'utf16', 'codepoints']);
const FORMATS: ReadonlySet<unknown> = new Set(['plain', 'markdown', 'html']);
const isAtLeast = (value: unknown, least: number): boolean => typeof value === 'number' && value >= least;
const isAbove0 = (value: unknown): boolean => typeof value === 'number' && value > 0;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
