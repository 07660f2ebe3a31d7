// HTTP deliveries to an account of an adapter, or to a webhook that a plugin registered.
//
//   WEBHOOKS-1  A delivery is verified over its raw bytes, stored once an id, then acknowledged. No 2xx comes before the commit.
//   WEBHOOKS-2  A verified delivery that cannot be parsed becomes a dead letter and is acknowledged. A retry of the platform would bring the same
//               body. It is logged at most once a minute.
//   WEBHOOKS-3  A wrong signature gets 401 without detail. It is counted, logged at most once a minute, and never stored.
//   WEBHOOKS-4  An exception in a plugin or adapter gets 500 without detail. It is counted and reported; the platform retries.
//   WEBHOOKS-5  An address may end with a slash.
//   WEBHOOKS-6  Stored headers hold no secret. Some platforms send their secret as a header.
import { ownerOf } from '../../shared/identifiers.ts';
import { wellFormed } from '../../shared/log/well-formed.ts';
import { messageOf, SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { checkArrivals } from '../endpoints/arrival-shapes.ts';
import type { EndpointRunner } from '../endpoints/endpoint-runner.ts';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { WebhookCapability } from '../handling/plan/capabilities.ts';
import type { GenerationView } from '../handling/plan/generation-view.ts';
import type { PluginFailed } from '../handling/run/failure.ts';
import type { HttpReply, RawDelivery } from '../http/api/delivery-api.ts';
import type { Accepted, Inbox } from '../inbox/inbox.ts';
import type { WebhookOutcome } from '../metrics/closed-labels.ts';
import type { Arrival, PlatformSocket, RawRequest, Verdict } from '../sdk/index.ts';
import type { IngressGate } from './ingress-gate.ts';
import { keptHeaders, weakId } from './kept-delivery.ts';
import { deliveryIdOf, isWanted, verdictOf, webhookLaneOf } from './plugin-answers.ts';
import { receiveArrivals } from './receive-arrivals.ts';
import { RefusalLog } from './refusal-log.ts';
import { takesWebhooks } from './webhook-addresses.ts';

export interface WebhooksDeps {
  readonly core: Core;
  readonly endpoints: Endpoints;
  readonly inbox: Inbox;
  readonly gate: IngressGate;
  readonly generation: () => GenerationView | undefined;
  /** Throws if no delivery may be taken now (disk budget, drain). */
  readonly admit: () => void;
  readonly observe: (fact: { readonly endpoint: string; readonly kind: WebhookOutcome }) => void;
  /** Reports an exception of a plugin or an adapter. */
  readonly failed: (failed: PluginFailed) => void;
}

/** Largest body in bytes, unless the adapter names another limit. */
const WEBHOOK_BYTES = 1_048_576;

/** Reason in events. Events leave out the error itself, which may quote user content. */
const UNPARSABLE = 'cannot be parsed: the item has the error';

/** An account to which its platform may open a WebSocket. */
export interface WebhookSocketTarget {
  /** Throws the error that the platform gets as its answer. */
  verify(request: RawRequest): void;
  accept(socket: PlatformSocket): void;
  readonly maxBytes: number | undefined;
}

type Target =
  | { readonly kind: 'endpoint'; readonly runner: EndpointRunner }
  | { readonly kind: 'plugin'; readonly webhook: WebhookCapability };

export class Webhooks {
  readonly #deps: WebhooksDeps;
  readonly #refusals: RefusalLog;

  constructor(deps: WebhooksDeps) {
    this.#deps = deps;
    this.#refusals = new RefusalLog(deps.core);
  }

  /** Largest body for this path in bytes; undefined if the path has no webhook. */
  limit(path: string): number | undefined {
    const target = this.#find(path);
    if (target?.kind === 'endpoint') return target.runner.spec.adapter.webhook?.maxBytes ?? WEBHOOK_BYTES;
    return target === undefined ? undefined : WEBHOOK_BYTES;
  }

  /** The account at this path, if it takes WebSockets. */
  socket(path: string): WebhookSocketTarget | undefined {
    const target = this.#find(path);
    if (target?.kind !== 'endpoint') return undefined;
    const { runner } = target;
    const { adapter, values } = runner.spec;
    const socket = adapter.webhook?.socket;
    if (socket === undefined || socket.takes?.(values) === false) return undefined;
    return {
      verify: (request) => {
        this.#deps.admit();
        this.#deps.gate.refuseWhenRejecting();
        refuseUnlessTaken(runner);
        const verdict = this.#ask(runner.spec, () => verdictOf(socket.verify(request, values)));
        if (verdict.kind === 'refused') this.#refuse(runner.spec.id, verdict);
        if (verdict.kind === 'handshake') this.#refuse(runner.spec.id, { reason: 'a handshake, not a WebSocket' });
      },
      accept: (opened) => (runner.takesDeliveries ? runner.accept(opened) : opened.close(1013, 'try again later')),
      maxBytes: socket.maxBytes,
    };
  }

  /** Answers the GET with which some platforms verify an address; undefined if this path does not answer one. */
  challenge(path: string): ((delivery: RawDelivery) => HttpReply) | undefined {
    const target = this.#find(path);
    if (target?.kind !== 'endpoint') return undefined;
    const { spec } = target.runner;
    const challenge = spec.adapter.webhook?.challenge;
    if (challenge === undefined) return undefined;
    return (delivery) => {
      refuseUnlessTaken(target.runner);
      const verdict = this.#ask(spec, () => verdictOf(challenge(requestOf(delivery), spec.values)));
      const reply = this.#refusal(spec.id, verdict);
      if (reply === undefined) throw new SvcError('plugin_failed', `${spec.id}: a challenge is answered or refused`);
      return reply;
    };
  }

  async deliver(delivery: RawDelivery): Promise<HttpReply> {
    const target = this.#find(delivery.path);
    if (target === undefined) throw new SvcError('not_found', 'no webhook at this path');
    const { id } = target.kind === 'endpoint' ? target.runner.spec : target.webhook;
    try {
      this.#deps.admit();
      this.#deps.gate.refuseWhenRejecting();
    } catch (error) {
      this.#deps.observe({ endpoint: id, kind: 'rejected' });
      throw error;
    }
    return target.kind === 'endpoint'
      ? this.#toEndpoint(target.runner, requestOf(delivery))
      : this.#toPlugin(target.webhook, requestOf(delivery));
  }

  async #toEndpoint(runner: EndpointRunner, request: RawRequest): Promise<HttpReply> {
    refuseUnlessTaken(runner);
    const { spec } = runner;
    const { webhook } = spec.adapter;
    if (webhook === undefined) throw new SvcError('not_found', 'no webhook at this path');
    const refusal = this.#refusal(
      spec.id,
      this.#ask(spec, () => verdictOf(webhook.verify(request, spec.values))),
    );
    if (refusal !== undefined) return refusal;
    let arrivals: readonly Arrival[];
    try {
      arrivals = checkArrivals(spec.adapter.name, webhook.parse(request, spec.values));
    } catch (error) {
      await this.#keepUnparsable(spec.id, request, messageOf(error));
      return { status: 200 };
    }
    let accepted: Accepted;
    try {
      accepted = await receiveArrivals(this.#deps.inbox, spec, { arrivals });
    } catch (error) {
      throw this.#rejected(spec.id, error);
    }
    this.#deps.observe({ endpoint: spec.id, kind: outcomeOf(accepted) });
    for (const arrival of arrivals)
      if (arrival.kind === 'other' && arrival.fault !== undefined) this.#refusals.notUnderstood(spec.id, arrival.fault);
    const answer = this.#ask(spec, () => webhook.answer?.(request, spec.values));
    if (answer !== undefined) return { status: answer.status ?? 200, ...answer };
    return { status: 200, json: { accepted: accepted.fresh.length, duplicates: accepted.duplicates } };
  }

  async #toPlugin(webhook: WebhookCapability, request: RawRequest): Promise<HttpReply> {
    const { spec } = webhook;
    const refusal = this.#refusal(
      webhook.id,
      this.#ask(webhook, () => verdictOf(spec.verify(request))),
    );
    if (refusal !== undefined) return refusal;
    if (!this.#ask(webhook, () => isWanted(spec.accept?.(request)))) {
      this.#deps.observe({ endpoint: webhook.id, kind: 'ignored' });
      return { status: 202, json: { ignored: true } };
    }
    const text = Buffer.from(request.body).toString('utf8');
    const id = this.#ask(webhook, () => deliveryIdOf(spec.delivery(request)));
    let body: unknown;
    try {
      body = wellFormed(JSON.parse(text));
    } catch (error) {
      await this.#keepUnparsable(webhook.id, request, messageOf(error));
      return { status: 202, json: {} };
    }
    const lane = webhookLaneOf(webhook, body);
    const deliveryId = id ?? weakId(request);
    const delivery = {
      endpoint: webhook.id,
      deliveryId,
      weak: id === undefined,
      payload: { kind: 'webhook', headers: keptHeaders(this.#deps.core, request.headers), text },
      lane: `${webhook.id}/${lane ?? deliveryId}`,
      capability: webhook.id,
    } as const;
    let accepted: Accepted;
    try {
      accepted = await this.#deps.inbox.accept([delivery]);
    } catch (error) {
      throw this.#rejected(webhook.id, error);
    }
    this.#deps.observe({ endpoint: webhook.id, kind: outcomeOf(accepted) });
    return { status: 202, json: accepted.fresh.length > 0 ? {} : { duplicate: true } };
  }

  /** Counts and logs a refusal of the inbox. A helper that awaited the inbox would delay the HTTP answer behind the first handlers. */
  #rejected(endpoint: string, error: unknown): unknown {
    this.#deps.observe({ endpoint, kind: 'rejected' });
    this.#refusals.rejected(endpoint, error);
    return error;
  }

  /** Runs code of a plugin or adapter. An exception is counted, reported and answered with 500. */
  #ask<T>({ id, slot }: { readonly id: string; readonly slot: string }, run: () => T): T {
    try {
      return run();
    } catch (error) {
      const { failed, generation, observe } = this.#deps;
      observe({ endpoint: id, kind: 'failed' });
      failed({
        capability: id,
        slot,
        during: 'webhook',
        item: 'not stored',
        generation: generation()?.number ?? 0,
        error,
        outcome: 'answered 500',
      });
      throw new SvcError('plugin_failed', 'the plugin failed', { cause: error });
    }
  }

  #refusal(endpoint: string, verdict: Verdict): HttpReply | undefined {
    switch (verdict.kind) {
      case 'ok':
        return undefined;
      case 'handshake':
        return { status: verdict.answer.status ?? 200, ...verdict.answer };
      case 'refused':
        return this.#refuse(endpoint, verdict);
    }
  }

  /** Counts and logs a wrong signature, then throws the 401 (or 403) without detail. */
  #refuse(endpoint: string, { reason, status }: { readonly reason: string; readonly status?: 403 }): never {
    this.#deps.observe({ endpoint, kind: 'bad_signature' });
    this.#refusals.refused(endpoint, reason);
    if (status === 403) throw new SvcError('delivery_forbidden', 'this is not for this account');
    throw new SvcError('bad_signature', 'the signature does not fit');
  }

  async #keepUnparsable(endpoint: string, request: RawRequest, reason: string): Promise<void> {
    const { core, inbox, observe } = this.#deps;
    observe({ endpoint, kind: 'unparsable' });
    const text = Buffer.from(request.body).toString('utf8');
    const deliveryId = weakId(request);
    const payload = { kind: 'webhook', headers: keptHeaders(core, request.headers), text } as const;
    const delivery = {
      endpoint,
      deliveryId,
      weak: true,
      payload,
      lane: `${endpoint}/unparsable/${deliveryId}`,
      capability: `${endpoint}#parse`,
    };
    const item = await inbox.acceptDead(delivery, {
      code: 'unparsable',
      reason: UNPARSABLE,
      error: `cannot be parsed: ${reason}`,
    });
    this.#refusals.unparsable(endpoint, item);
  }

  #find(path: string): Target | undefined {
    const [slot = '', name, ...rest] = withoutSlash(path).split('/');
    if (rest.length > 0) return undefined;
    for (const runner of this.#deps.endpoints.ofAccount(slot, name))
      if (takesWebhooks(runner.spec)) return { kind: 'endpoint', runner };
    if (name === undefined) return undefined;
    const found = this.#deps.generation()?.capabilities.find(`${ownerOf(slot)}#webhook/${name}`);
    return found?.kind === 'webhook' ? { kind: 'plugin', webhook: found } : undefined;
  }
}

/** People enter addresses with a slash at the end. */
const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path);

const requestOf = (delivery: RawDelivery): RawRequest => ({ ...delivery, path: `/webhooks/${delivery.path}` });

function refuseUnlessTaken({ spec, takesDeliveries }: EndpointRunner): void {
  if (takesDeliveries) return;
  throw new SvcError('endpoint_unavailable', `${spec.id} is disabled or its account failed`, {
    details: { retryAfterMs: 60_000 },
  });
}

/** Outcome of a taken delivery. `ignored`: it held no arrival, or only messages of the account itself. */
function outcomeOf({ fresh, duplicates }: Accepted): 'accepted' | 'duplicate' | 'ignored' {
  if (fresh.length > 0) return 'accepted';
  return duplicates > 0 ? 'duplicate' : 'ignored';
}
