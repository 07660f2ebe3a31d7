// A plugin's HTTP routes below <base>/plugins/<slot>. A handler's decisions are committed before its answer is sent.
import { uuidv7 } from '../../../shared/identifiers.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { UnitAnswer } from '../../database/unit.ts';
import { recordEvents } from '../../events/event-history.ts';
import { type Decided, hasMoved, writtenEffects } from '../../handling/effects/effects.ts';
import { readSentMessages } from '../../handling/effects/sent-messages.ts';
import { faultOfAnswer } from '../../handling/http-answer.ts';
import type { RouteCapability } from '../../handling/plan/capabilities.ts';
import { isSaid } from '../../handling/run/body-shapes.ts';
import type { ContextDeps } from '../../handling/run/context.ts';
import { forgetSteps } from '../../handling/run/once.ts';
import { Run } from '../../handling/run/run.ts';
import { runHandler } from '../../handling/run/run-step.ts';
import type { StateTurn } from '../../handling/run/state-turns.ts';
import type { DeliveryApi, HttpReply, RawDelivery } from '../../http/api/delivery-api.ts';
import { errorCode } from '../../sdk/errors.ts';
import type { HttpAnswer, RawRequest } from '../../sdk/index.ts';
import { plainText, toContent } from '../../sdk/message.ts';
import { check, lineOf } from '../../sdk/schema/check.ts';
import type { Generation } from './generation.ts';

export interface PluginRoutesDeps {
  readonly context: Omit<ContextDeps, 'generation'>;
  readonly generation: () => Generation | undefined;
  /** Throws during a drain or without disk space. Called before a route that may change something, so not before GET. */
  readonly admit: () => void;
  readonly decide: (decided: Decided, commit: () => Promise<UnitAnswer>) => Promise<UnitAnswer>;
  readonly failed: (failed: RouteFailed) => void;
}

export interface RouteFailed {
  readonly capability: string;
  readonly slot: string;
  readonly during: 'route';
  readonly item: string;
  readonly generation: number;
  readonly error: unknown;
  readonly outcome: string;
}

const STATE_MOVES = 10;
/** The answer of an empty transaction. */
const NOTHING: UnitAnswer = { kind: 'committed', rows: [], head: 0 };

export function createPluginRoutes(deps: PluginRoutesDeps): DeliveryApi['pluginRoute'] {
  return (method, slot, path) => {
    const generation = deps.generation();
    const routes =
      generation?.capabilities.ofKind('route').filter((one) => one.slot === slot && one.spec.path === path) ?? [];
    const route = routes.find((one) => one.spec.method === method);
    if (generation === undefined || routes.length === 0) return undefined;
    if (route === undefined) return { allow: routes.map((one) => one.spec.method) };
    return {
      scope: route.spec.scope,
      run: async (delivery) => {
        if (method !== 'GET') deps.admit();
        return answer(deps, { generation, route, delivery });
      },
    };
  };
}

interface Call {
  readonly generation: Generation;
  readonly route: RouteCapability;
  readonly delivery: RawDelivery;
}

/** Enters the call in its generation. If that was replaced while the request was read, enters it in the serving one. */
function begin(deps: PluginRoutesDeps, call: Call): { readonly call: Call; leave(): void } | undefined {
  const first = call.generation.enter();
  if (first !== undefined) return { call, leave: first };
  const generation = deps.generation();
  const route = generation?.capabilities.find(call.route.id);
  const leave = generation?.enter();
  if (generation === undefined || leave === undefined) return undefined;
  // Access was checked for the scope of the old route, so a route with another scope is not used.
  if (route?.kind === 'route' && route.spec.scope === call.route.spec.scope)
    return { call: { ...call, generation, route }, leave };
  leave();
  return undefined;
}

async function answer(deps: PluginRoutesDeps, asked: Call): Promise<HttpReply> {
  const begun = begin(deps, asked);
  if (begun === undefined)
    throw new SvcError('draining', 'the generation of this route is being replaced', {
      details: { retryAfterMs: 1_000 },
    });
  const { call, leave } = begun;
  const id = uuidv7(deps.context.core.clock.now());
  const turn = deps.context.turns.begin();
  try {
    const request: RawRequest & { json: unknown } = { ...call.delivery, json: bodyOf(call) };
    let moved: Run | undefined;
    for (let moves = 0; moves <= STATE_MOVES; moves += 1) {
      const reply = await attempt(deps, call, { id, request, turn, moved });
      if (!(reply instanceof Run)) return reply;
      moved = reply;
    }
    throw new SvcError('conflict', 'the state that this depends on keeps moving');
  } finally {
    turn.end();
    leave();
  }
}

interface Attempt {
  readonly id: string;
  readonly request: RawRequest & { json: unknown };
  readonly turn: StateTurn;
  readonly moved: Run | undefined;
}

/** The answer, or the run if its state changed before the commit. */
async function attempt(
  deps: PluginRoutesDeps,
  { generation, route }: Call,
  { id, request, turn, moved }: Attempt,
): Promise<HttpReply | Run> {
  const { core } = deps.context;
  const cause = { id, receivedAt: request.receivedAt, attempt: 1, chat: undefined };
  let reply: HttpAnswer | undefined;
  const result = await runHandler(
    { deps: { ...deps.context, generation }, capability: route, cause, moved },
    async (ctx) => {
      const given: unknown = await route.run(ctx, request as never);
      reply = isSaid(given) ? undefined : (given as HttpAnswer | undefined); // a handler may return the result of `ctx.send`, as in other handlers
      const fault = faultOfAnswer(reply);
      if (fault !== undefined) throw new Error(`${route.id} answers with ${fault}`);
    },
  );
  if (result.kind === 'failed') throw refusalOf(deps, { route, generation: generation.number, id }, result.error);
  const sent = await readSentMessages(core, result.run.effects);
  const of = { core, generation, cause, itemId: null, correlationId: cause.id, actor: route.id, sent };
  const decided = writtenEffects(of, result.run.effects);
  if (decided instanceof Error) throw refusalOf(deps, { route, generation: generation.number, id }, decided);
  const forget = result.run.steps.size > 0 ? [forgetSteps({ item: id, handler: route.keptAs })] : [];
  const statements = [...decided.statements, ...forget, ...recordEvents(decided.events)];
  const answer =
    (statements.length === 0 || turn.mayCommit(result.run)) &&
    (await deps.decide(decided, async () =>
      statements.length === 0 ? NOTHING : core.writer.commit({ name: 'route.decided', statements }),
    ));
  if (answer === false || hasMoved(answer)) {
    await turn.take(result.run);
    return result.run;
  }
  if (answer.kind === 'refused') throw new SvcError('conflict', answer.detail);
  return { ...reply, status: reply?.status ?? 200 };
}

function bodyOf({ route, delivery }: Call): unknown {
  const schema = route.spec.body;
  if (schema === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(delivery.body).toString('utf8'));
  } catch {
    throw new SvcError('invalid_request', 'the body is not JSON');
  }
  const checked = check(schema, value);
  if (!checked.ok) {
    const faults = checked.at.map(({ path, expected }) => lineOf(path, expected)); // never the sent value
    throw new SvcError('invalid_request', faults.join('; '));
  }
  return checked.value;
}

interface Asked {
  readonly route: RouteCapability;
  readonly generation: number;
  readonly id: string;
}

function refusalOf(deps: PluginRoutesDeps, { route, generation, id }: Asked, error: unknown): SvcError {
  if (errorCode(error) === 'user_error') {
    const { text = '' } = toContent((error as { body: Parameters<typeof toContent>[0] }).body);
    const said = typeof text === 'string' ? text : plainText(text.segments);
    return new SvcError('invalid_request', said, { forEveryone: true });
  }
  const { id: capability, slot } = route;
  deps.failed({ capability, slot, during: 'route', item: id, generation, error, outcome: 'answered 500' });
  return new SvcError('plugin_failed', 'the plugin failed', { cause: error });
}
