// Rules that a schema cannot express: addresses, tokens, names that must differ or exist. Pure.
// Invalid trees are accepted, so that all faults are reported at once.
import { isIP } from 'node:net';
import type { ProjectPaths } from '../../files/paths.ts';
import { addressOf } from '../../ip-address.ts';
import { isBlockedPort } from '../../process/blocked-ports.ts';
import { databaseFile } from '../database-file.ts';
import { valueAt } from '../explain.ts';
import { type Finding, pointerTo, printable } from '../fault.ts';
import { isRecord } from '../schema/json-schema.ts';
import { isZone, nearestZone } from '../time-zone.ts';
import { alertChecks } from './alert-checks.ts';

export interface CheckResult {
  readonly findings: readonly Finding[];
  /** Reported, but no reason to reject the file. */
  readonly warnings: readonly Finding[];
}

export function crossChecks(tree: unknown, paths: ProjectPaths): CheckResult {
  const findings = [
    ...address(tree),
    ...origins(tree),
    ...proxies(tree),
    ...endpointIds(tree),
    ...timezone(tree),
    ...reservedSlots(tree),
    ...databaseFile(textAt(tree, '/database/filename'), paths),
    ...inboxDays(tree),
    ...operators(tree),
    ...doubleSelectors(tree),
    ...alertChecks(tree),
  ];
  const told = new Set(findings.map(({ path }) => path));
  findings.push(...controlCharacters(tree).filter(({ path }) => !told.has(path)));
  return { findings, warnings: [...blockedPort(tree), ...unmetSelectors(tree)] };
}

export const textAt = (tree: unknown, path: string): string | undefined => {
  const value = valueAt(tree, path);
  return typeof value === 'string' ? value : undefined;
};

export const listAt = (tree: unknown, path: string): readonly unknown[] => {
  const value = valueAt(tree, path);
  return Array.isArray(value) ? value : [];
};

/** The host adds a plugin in this slot. */
function reservedSlots(tree: unknown): Finding[] {
  if (valueAt(tree, '/plugins/jobs') === undefined) return [];
  return [
    {
      path: '/plugins/jobs',
      message: 'is a slot of the host itself: give this plugin another name, and its name in `use`',
    },
  ];
}

function address(tree: unknown): Finding[] {
  const host = textAt(tree, '/http/host');
  if (host === undefined || isIP(host) !== 0) return [];
  const suggestion = host === 'localhost' ? '127.0.0.1' : host === '*' ? '0.0.0.0' : addressOf(host);
  return [
    {
      path: '/http/host',
      message: 'must be an IP literal, like 127.0.0.1 or ::1',
      ...(suggestion === undefined ? {} : { suggestion }),
    },
  ];
}

/** A warning only: other clients work with such a port, and so does a proxy in front of the host. */
function blockedPort(tree: unknown): Finding[] {
  const port = valueAt(tree, '/http/port');
  if (typeof port !== 'number' || !isBlockedPort(port)) return [];
  return [{ path: '/http/port', message: 'is one that no browser opens: the chat page cannot be reached there' }];
}

function origins(tree: unknown): Finding[] {
  return texts(tree, '/http/corsOrigins').flatMap(([path, origin]) => {
    if (isExactOrigin(origin)) return [];
    // URL accepts a * in a host name, but no browser has such an origin.
    if (origin.includes('*')) return [{ path, message: 'must name each origin; * is not taken' }];
    const message = "must be an exact origin like 'https://ops.example', without a path";
    const suggestion = URL.canParse(origin) && /^https?:/.test(origin) ? new URL(origin).origin : undefined;
    return [{ path, message, ...(suggestion === undefined ? {} : { suggestion }) }];
  });
}

const isExactOrigin = (text: string): boolean =>
  /^https?:\/\/[^*]*$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

function proxies(tree: unknown): Finding[] {
  return texts(tree, '/http/trustedProxies').flatMap(([path, text]) =>
    isNetwork(text) ? [] : [{ path, message: 'must be an IP address or a network like 10.0.0.0/8' }],
  );
}

function isNetwork(text: string): boolean {
  const [host = '', bits, ...rest] = text.split('/');
  const family = isIP(host);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function endpointIds(tree: unknown): Finding[] {
  const slots = valueAt(tree, '/plugins');
  return Object.keys(isRecord(slots) ? slots : {}).flatMap((slot) => {
    const at = pointerTo(pointerTo('/plugins', slot), 'endpoints');
    return doubles(listAt(tree, at).map((entry) => (isRecord(entry) ? entry['id'] : undefined))).map(
      ({ index, value }) => ({
        path: pointerTo(pointerTo(at, index), 'id'),
        message: `${printable(String(value))} is the id of another endpoint of this slot`,
      }),
    );
  });
}

function timezone(tree: unknown): Finding[] {
  const zone = textAt(tree, '/schedule/timezone');
  if (zone === undefined || zone === '' || isZone(zone)) return [];
  const suggestion = nearestZone(zone);
  return [
    {
      path: '/schedule/timezone',
      message: "must be an IANA name of a time zone, like 'Europe/Berlin'",
      ...(suggestion === undefined ? {} : { suggestion }),
    },
  ];
}

function inboxDays(tree: unknown): Finding[] {
  const [body, id] = [valueAt(tree, '/inbox/bodyDays'), valueAt(tree, '/inbox/idDays')];
  if (typeof body !== 'number' || typeof id !== 'number' || body <= id) return [];
  return [
    {
      path: '/inbox/bodyDays',
      message: `must not be more than inbox.idDays (${id}): a text is not kept longer than its id`,
    },
  ];
}

function operators(tree: unknown): Finding[] {
  return listAt(tree, '/commands/operators').flatMap((entry, index) => {
    const endpoint = textAt(entry, '/endpoint');
    if (endpoint === undefined || /^root(\/[a-z][a-z0-9-]*)+:[^\s:]+$/.test(endpoint)) return [];
    return [
      {
        path: `/commands/operators/${index}/endpoint`,
        message: "must be an endpoint as in events, like 'root/irc:irc~main'",
      },
    ];
  });
}

function doubleSelectors(tree: unknown): Finding[] {
  const names = listAt(tree, '/http/readiness/endpoints').map(
    (entry) => `${textAt(entry, '/owner') ?? ''}:${textAt(entry, '/name') ?? ''}`,
  );
  return doubles(names).map(({ index }) => ({
    path: `/http/readiness/endpoints/${index}`,
    message: 'is given a second time',
  }));
}

/** Required endpoints and agents that this file cannot start. The host would never become ready. */
function unmetSelectors(tree: unknown): Finding[] {
  const agents = listAt(tree, '/http/readiness/agents').map((_name, index) => ({
    path: `/http/readiness/agents/${index}`,
    message: 'names a binding, and this version has none: the host will not become ready',
  }));
  const endpoints = listAt(tree, '/http/readiness/endpoints').flatMap((entry, index) => {
    const [owner = '', name = ''] = [textAt(entry, '/owner'), textAt(entry, '/name')];
    const slot = valueAt(tree, pointerTo('/plugins', owner.split('/')[1] ?? ''));
    const [, id] = name.split('~');
    const account = listAt(slot, '/endpoints').find((candidate) => textAt(candidate, '/id') === id);
    const enabled =
      isRecord(slot) &&
      slot['enabled'] !== false &&
      (id === undefined || (isRecord(account) && account['enabled'] !== false));
    return enabled
      ? []
      : [
          {
            path: `/http/readiness/endpoints/${index}`,
            message: 'names an endpoint that no enabled slot here has: the host will not become ready',
          },
        ];
  });
  return [...endpoints, ...agents];
}

/** Control characters in the host's own keys. Tokens have their own rules, and plugins check their own keys. */
function controlCharacters(tree: unknown): Finding[] {
  const { plugins, http, ...groups } = isRecord(tree) ? tree : {};
  const { token: _token, demoToken: _demoToken, tokens: _tokens, ...rest } = isRecord(http) ? http : {};
  const uses = Object.entries(isRecord(plugins) ? plugins : {}).map(([slot, entry]) => [
    slot,
    { use: isRecord(entry) ? entry['use'] : undefined },
  ]);
  const own = { ...groups, http: rest, plugins: Object.fromEntries(uses) };
  return allTexts(own, '').flatMap(([path, value]) =>
    CONTROL.test(value) ? [{ path, message: 'must be text without control characters' }] : [],
  );
}

/** Control characters move a cursor, end a line or ring a bell when a name is shown. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

function allTexts(value: unknown, path: string): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(isRecord(value) ? value : {});
  return inner.flatMap(([key, below]) => allTexts(below, pointerTo(path, key)));
}

const texts = (tree: unknown, path: string): [string, string][] =>
  listAt(tree, path).flatMap((item, index): [string, string][] =>
    typeof item === 'string' ? [[pointerTo(path, index), item]] : [],
  );

/** Values that appear earlier in the list. */
export function doubles(values: readonly unknown[]): { readonly index: number; readonly value: unknown }[] {
  const seen = new Set<unknown>();
  return values.flatMap((value, index) => {
    const again = value !== undefined && seen.has(value);
    seen.add(value);
    return again ? [{ index, value }] : [];
  });
}
