// `svc endpoints list|show|enable|disable|reconnect`.
import { randomUUID } from 'node:crypto';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import type { Command } from '../command.ts';
import { allEndpoints, type Endpoint } from '../connect/all-endpoints.ts';
import { textArgument } from '../options.ts';
import { shown } from '../output/printable.ts';
import { orNotServing, requireGeneration } from '../output/serving.ts';

const list: Command = {
  noun: 'endpoints',
  verb: 'list',
  summary: 'Lists endpoints with their state, who disabled or enabled them, and last error',
  examples: ['svc endpoints list', 'svc endpoints list --json'],
  async run({ host, print, json }) {
    const client = await host();
    const endpoints = await allEndpoints(client);
    if (endpoints.length === 0) await requireGeneration(client);
    if (json) print.json({ endpoints, total: endpoints.length });
    else if (endpoints.length === 0) print.text('no endpoints: plugins.<slot> of svc.config.yml makes them');
    else {
      const { color } = print;
      const paint = (endpoint: Endpoint): string => {
        const { state } = endpoint;
        const kind = state === 'online' ? 'good' : state === 'failed' ? 'bad' : 'warn';
        return color[kind](stateText(endpoint));
      };
      print.table(
        ['endpoint', 'state', 'since', 'error'],
        endpoints.map((endpoint) => [
          shown(endpoint['id']),
          paint(endpoint),
          shown(endpoint['since']),
          errorText(endpoint['lastError']),
        ]),
      );
      const failed = endpoints.find(({ state }) => state === 'failed');
      if (failed !== undefined) print.note(nextStepOf(failed));
    }
    return EXIT.ok;
  },
};

const show: Command = {
  noun: 'endpoints',
  verb: 'show',
  args: '<id>',
  summary: 'Shows one endpoint; exit 0 only when it is online',
  examples: ['svc endpoints show irc~libera', 'svc endpoints show root/irc:irc~libera --json'],
  async run({ host, print, json }, [id]) {
    const client = await host();
    const { body } = await orNotServing(client, client.request('GET', pathOf(textArgument(id, '<id>'))));
    const endpoint = body as Endpoint;
    if (json) print.json(endpoint);
    else
      for (const [name, value] of Object.entries(endpoint))
        print.text(`${print.color.dim(`${name}:`)} ${fieldText(endpoint, name, value)}`);
    if (endpoint['state'] === 'failed') print.note(nextStepOf(endpoint));
    return endpoint['state'] === 'online' ? EXIT.ok : EXIT.failed;
  },
};

const action = (verb: 'enable' | 'disable' | 'reconnect', summary: string): Command => ({
  noun: 'endpoints',
  verb,
  args: '<id>',
  summary,
  examples: [`svc endpoints ${verb} irc~libera`],
  async run({ host, print, json }, [id]) {
    const name = textArgument(id, '<id>');
    const client = await host();
    const change = { body: {}, idempotencyKey: randomUUID() };
    const { body } = await orNotServing(client, client.request('POST', `${pathOf(name)}/${verb}`, change));
    if (json) print.json(body);
    else print.text(`${shown((body as Endpoint)['id'] ?? name)} is ${shown((body as Endpoint)['state'])}`);
    return EXIT.ok;
  },
});

export const commands: Command[] = [
  list,
  show,
  action('enable', 'Enables an endpoint; stored, survives restarts'),
  action('disable', 'Disables an endpoint; stored, survives restarts'),
  action('reconnect', 'Drops the connection of an endpoint and connects again now'),
];

function fieldText(endpoint: Endpoint, name: string, value: unknown): string {
  if (name === 'lastError') return errorText(value);
  return name === 'state' ? stateText(endpoint) : shown(value);
}

/** A failed account waits for its operator. */
const nextStepOf = ({ name }: Endpoint): string =>
  `next: \`svc doctor --endpoint ${shown(name)}\` asks the platform; mend it, then \`svc endpoints reconnect ${shown(name)}\``;

/** The state, with the source of `enabled` if an operator overrides the configuration. An older host reports no `override`. */
function stateText({
  state,
  enabled,
  configured,
  override = configured === enabled ? null : enabled,
}: Endpoint): string {
  if (typeof configured !== 'boolean') return shown(state);
  if (state !== 'disabled')
    return `${shown(state)}${override === true && !configured ? ', enabled by an operator' : ''}`;
  const by = [override === false ? ['by an operator'] : [], configured ? [] : ['by the configuration']].flat();
  return [state, by.join(' and ')].join(' ').trim();
}

/** Code, reason and advice of an error. */
function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return shown(error);
  const { code, reason, remedy } = error as Readonly<Record<string, unknown>>;
  return `${shown(code)}: ${shown(reason)}${remedy == null ? '' : `; ${shown(remedy)}`}`;
}

/** Keeps slashes and colons of an id: `/api/endpoints/root/irc:irc~libera`. */
const pathOf = (id: string): string =>
  `/api/endpoints/${id
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3A', ':'))
    .join('/')}`;
