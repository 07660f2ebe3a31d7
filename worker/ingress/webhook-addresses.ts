// Webhook addresses of accounts and plugins. Registers an address at the platform if the platform has an API for that. Without `http.publicUrl` only
// the path is known.
import type { WebhookAddress } from '../../shared/api/webhook.ts';
import type { LoadedConfig } from '../../shared/config/load.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, reasonOf } from '../core/core.ts';
import { endpointNamed } from '../endpoints/endpoint-named.ts';
import type { EndpointSpec } from '../endpoints/endpoint-runner.ts';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { GenerationView } from '../handling/plan/generation-view.ts';
import type { WebhookControl } from '../http/api/webhooks-api.ts';
import { errorCode } from '../sdk/errors.ts';

export interface PublicAddress {
  readonly origin: string | undefined;
  readonly base: string;
}

export const publicAddress = ({ config: { http } }: LoadedConfig): PublicAddress => ({
  origin: http.publicUrl?.replace(/\/$/, ''),
  base: http.base,
});

/** False for platforms without webhooks and for accounts configured to connect another way. */
export const takesWebhooks = ({ adapter, values }: EndpointSpec): boolean =>
  adapter.webhook !== undefined && adapter.webhook.takes?.(values) !== false;

/** Address of an account. `url` is null if the host's public address is not configured. */
export function addressOf(
  { slot, account }: Pick<EndpointSpec, 'slot' | 'account'>,
  address: PublicAddress,
): { readonly path: string; readonly url: string | null } {
  return addressAt(account === undefined ? slot : `${slot}/${account}`, address);
}

function addressAt(
  rest: string,
  { origin, base }: PublicAddress,
): { readonly path: string; readonly url: string | null } {
  const path = `${base}/webhooks/${rest}`;
  return { path, url: origin === undefined ? null : `${origin}${path}` };
}

/** Accounts and plugins that take deliveries over HTTP, as metrics name them. */
export const webhookNames = (
  endpoints: Pick<Endpoints, 'all'>,
  generation: GenerationView | undefined,
): readonly string[] => [
  ...endpoints.all().flatMap(({ spec }) => (takesWebhooks(spec) ? [spec.id] : [])),
  ...(generation?.capabilities.ofKind('webhook') ?? []).map(({ id }) => id),
];

export interface WebhookControlDeps {
  readonly core: Core;
  readonly endpoints: Endpoints;
  readonly generation: () => GenerationView | undefined;
  readonly address: () => PublicAddress;
}

export function createWebhookControl({ core, endpoints, generation, address }: WebhookControlDeps): WebhookControl {
  const ofAccount = (spec: EndpointSpec): WebhookAddress => ({
    endpoint: spec.id,
    ...addressOf(spec, address()),
    registers: spec.adapter.webhook?.register !== undefined,
  });
  return {
    list() {
      const accounts = endpoints.all().flatMap(({ spec }) => (takesWebhooks(spec) ? [ofAccount(spec)] : []));
      const plugins = generation()?.capabilities.ofKind('webhook') ?? [];
      return [
        ...accounts,
        ...plugins.map(({ id, slot, name }) => ({
          endpoint: id,
          ...addressAt(`${slot}/${name}`, address()),
          registers: false,
        })),
      ];
    },
    async register(id) {
      const runner = endpointNamed(endpoints, id);
      const { spec } = runner;
      if (!takesWebhooks(spec)) throw new SvcError('conflict', `${spec.id} takes no webhooks`);
      const known = ofAccount(spec);
      if (!known.registers)
        throw new SvcError('conflict', `${spec.adapter.name} has no API to register a webhook`, {
          hint: `enter the address on the platform's own pages: svc webhooks url ${spec.name}`,
        });
      if (known.url === null)
        throw new SvcError('conflict', 'the address of this host is not known', {
          hint: 'set http.publicUrl in svc.config.yml and reload',
        });
      try {
        const done = await runner.registerWebhook(known.url);
        core.log.info({ endpoint: spec.id, url: known.url }, 'webhook registered');
        return { ...known, done };
      } catch (error) {
        if (error instanceof SvcError) throw error;
        const remedy = errorCode(error) === 'account_failed' ? (error as { remedy?: unknown }).remedy : undefined;
        const hint = typeof remedy === 'string' ? { hint: remedy } : {};
        throw new SvcError('platform_refused', reasonOf(core, error), { ...hint, cause: error });
      }
    },
  };
}
