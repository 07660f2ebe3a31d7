// Evaluates ranges of `engines.node`: comparators joined by spaces, alternatives joined by `||`. Pure.
type Version = readonly [number, number, number];

/** Whether a version is in a range. Undefined if the range has an unsupported form. */
export function inRange(version: string, range: string): boolean | undefined {
  const wanted = parseVersion(version);
  if (wanted === undefined) return undefined;
  const answers = range.split('||').map((part) => inAll(wanted, part.trim()));
  if (answers.includes(true)) return true;
  return answers.includes(undefined) ? undefined : false;
}

function inAll(version: Version, part: string): boolean | undefined {
  if (part === '' || part === '*') return true;
  const comparators = part.replaceAll(/(>=|<=|>|<|=|\^|~)\s+/g, '$1').split(/\s+/);
  const answers = comparators.map((comparator) => satisfies(version, comparator));
  return answers.includes(undefined) ? undefined : !answers.includes(false);
}

function satisfies(version: Version, comparator: string): boolean | undefined {
  const [, operator = '', text = ''] = /^(>=|<=|>|<|=|\^|~)?v?(.+)$/.exec(comparator) ?? [];
  const given = text.replaceAll(/\.[x*]/g, '');
  const bound = parseVersion(given);
  if (bound === undefined) return undefined;
  const order = compare(version, bound);
  const parts = given.split('.').length;
  switch (operator) {
    case '>=':
      return order >= 0;
    case '>':
      return order > 0;
    case '<=':
      return order <= 0;
    case '<':
      return order < 0;
    case '^':
      return order >= 0 && version[0] === bound[0];
    case '~':
      return order >= 0 && version[0] === bound[0] && version[1] === bound[1];
    default:
      return parts === 3 ? order === 0 : version[0] === bound[0] && (parts === 1 || version[1] === bound[1]);
  }
}

function parseVersion(text: string): Version | undefined {
  const [, major, minor = '0', patch = '0'] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text.trim()) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

const compare = (a: Version, b: Version): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
