// `svc webhooks url|register`: prints webhook addresses, and registers one at its platform.
import { randomUUID } from 'node:crypto';
import type { WebhookAddress } from '../../../shared/api/webhook.ts';
import { nearestOrKnown } from '../../../shared/config/nearest.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command } from '../command.ts';
import { textArgument } from '../options.ts';
import { shown } from '../output/printable.ts';
import { orNotServing, requireGeneration } from '../output/serving.ts';

const NO_ADDRESS = 'only paths: set http.publicUrl in svc.config.yml to the address at which platforms reach this host';

const url: Command = {
  noun: 'webhooks',
  verb: 'url',
  args: '[endpoint]',
  summary: 'Prints the address to register at the platform, of one endpoint or of all',
  examples: ['svc webhooks url', 'svc webhooks url telegram~main', 'svc webhooks url --json'],
  async run({ host, print, json }, [endpoint]) {
    const client = await host();
    const { body } = await client.request('GET', '/api/webhooks');
    const all = (body as { readonly webhooks: readonly WebhookAddress[] }).webhooks;
    if (all.length === 0) await requireGeneration(client);
    const wanted =
      endpoint === undefined ? all : all.filter((one) => isNamed(one, textArgument(endpoint, '<endpoint>')));
    if (endpoint !== undefined && wanted.length === 0)
      throw new SvcError('not_found', `no webhook of ${shown(endpoint)}`, {
        hint:
          nearestOrKnown(
            textArgument(endpoint, '<endpoint>'),
            all.map((one) => one.endpoint.replace(/^.*:/, '')),
          ) ?? 'no endpoint and no plugin takes webhooks',
      });
    if (json) print.json({ webhooks: wanted });
    else if (wanted.length === 0) print.text('no webhooks: no endpoint and no plugin takes any');
    else if (endpoint !== undefined) for (const one of wanted) print.text(shown(one.url ?? one.path));
    else
      print.table(
        ['endpoint', 'address', 'register'],
        wanted.map((one) => [
          shown(one.endpoint),
          shown(one.url ?? one.path),
          one.registers
            ? `svc webhooks register ${shown(one.endpoint.replace(/^.*:/, ''))}`
            : "on the platform's pages",
        ]),
      );
    if (wanted.some((one) => one.url === null)) print.note(NO_ADDRESS);
    return EXIT.ok;
  },
};

const register: Command = {
  noun: 'webhooks',
  verb: 'register',
  args: '<endpoint>',
  summary: 'Tells the platform the address, with the secret; where the platform has an API for it',
  examples: ['svc webhooks register telegram~main'],
  async run({ host, print, json }, [endpoint]) {
    const id = textArgument(endpoint, '<endpoint>');
    const client = await host();
    const change = { body: {}, idempotencyKey: randomUUID() };
    const path = `/api/webhooks/${pathOf(id)}/register`;
    const { body } = await orNotServing(client, client.request('POST', path, change));
    const registered = body as WebhookAddress & { readonly done: string };
    if (json) print.json(registered);
    else print.text(`${shown(registered.url)}: ${shown(registered.done)}`);
    return EXIT.ok;
  },
};

export const commands: Command[] = [url, register];

/** Matches the whole id, or the short name after the owner. */
const isNamed = ({ endpoint }: WebhookAddress, name: string): boolean =>
  endpoint === name || endpoint.endsWith(`:${name}`) || endpoint.endsWith(`#webhook/${name}`);

/** Keeps slashes and colons of an id. */
const pathOf = (id: string): string =>
  id
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3A', ':'))
    .join('/');
