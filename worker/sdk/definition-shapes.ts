// The keys of a plugin and of an adapter, checked for plain JavaScript. Without the check, a misspelt `catchUp` would never be called.
import type { AdapterDefinition, Can } from './adapter.ts';
import type { PluginSpec } from './plugin.ts';
import { ABOVE_0, ANY, FLAG, type Form, FUNCTION, faultOfShape, form, nested, type Shape } from './schema/shape.ts';

type Forms<T> = Readonly<Record<keyof T, Form>>;

const PLUGIN_KEYS: Forms<PluginSpec<{}, never>> = { name: ANY, config: ANY, uses: ANY, setup: FUNCTION };
export const PLUGIN: Shape = { needed: {}, other: PLUGIN_KEYS };

const FOR_A_TIME: Shape = { needed: { forMs: ABOVE_0 }, other: {} };
const isIdempotent = (value: unknown): boolean =>
  typeof value === 'boolean' || faultOfShape(value, FOR_A_TIME) === undefined;
const CAN_KEYS: Forms<Can> = {
  text: ANY,
  buttons: ANY,
  edit: FLAG,
  remove: FLAG,
  react: FLAG,
  threads: FLAG,
  replies: FLAG,
  only: FLAG,
  typing: FLAG,
  files: ANY,
  idempotent: form('true, false or { forMs }, a number above 0', isIdempotent),
};
export const CAN: Shape = { needed: {}, other: CAN_KEYS };

type Webhook = NonNullable<AdapterDefinition<{}>['webhook']>;
const SOCKET: Shape = { needed: { verify: FUNCTION }, other: { maxBytes: ANY, takes: FUNCTION } };
const WEBHOOK_KEYS: Forms<Omit<Webhook, 'verify' | 'parse'>> = {
  challenge: FUNCTION,
  answer: FUNCTION,
  maxBytes: ANY,
  socket: nested(SOCKET),
  takes: FUNCTION,
  register: FUNCTION,
};
const WEBHOOK: Shape = { needed: { verify: FUNCTION, parse: FUNCTION }, other: WEBHOOK_KEYS };

const ADAPTER_KEYS: Forms<AdapterDefinition<{}>> = {
  name: ANY,
  account: ANY,
  can: nested(CAN),
  rate: ANY,
  webhook: nested(WEBHOOK),
  fault: FUNCTION,
  connect: FUNCTION,
  catchUp: FUNCTION,
  send: FUNCTION,
  direct: FUNCTION,
  announce: FUNCTION,
  fetchFile: FUNCTION,
  check: FUNCTION,
};
export const ADAPTER: Shape = { needed: {}, other: ADAPTER_KEYS };
