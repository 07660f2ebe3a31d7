// The host itself: readiness, status, restart and reload.
import { SvcError } from '../../../shared/svc-error.ts';
import type { HostApi } from '../api/host-api.ts';
import type { Reloaded } from '../api/system-api.ts';
import { tagOf } from '../request/revision.ts';
import { type Answer, route } from './route.ts';

export const READINESS_PATH = '/api/system/readiness';

/** The revision of restart and reload: one generation of one process. */
const runningRevision = (port: HostApi): string => {
  const { runtimeId, generation } = port.system.readiness();
  return `${runtimeId}.${generation ?? 'none'}`;
};

const takenBy =
  (port: HostApi) =>
  (end: Reloaded): Answer =>
    end === 'restarts'
      ? { status: 202, json: { accepted: true, runtimeId: port.system.readiness().runtimeId } }
      : { status: 200, json: end };

export const systemRoutes = [
  route({
    method: 'GET',
    path: READINESS_PATH,
    scope: 'full',
    summary: 'The readiness report: each check, its reason and its remedy',
    answers: { 200: 'ReadinessReport', 503: 'ReadinessReport' },
    handle: ({ port }) => {
      const report = port.system.readiness();
      return {
        status: report.ready ? 200 : 503,
        json: report,
        ...(report.ready ? {} : { headers: { 'Retry-After': '2' } }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/system/status',
    scope: 'demo',
    summary: 'What the host is and how it came to run; reasons in words for full scope',
    answers: { 200: 'Status' },
    handle: async ({ port, caller }) => ({
      status: 200,
      json: caller().scope === 'full' ? await port.system.status() : withoutTexts(await port.system.status()),
      headers: { ETag: tagOf(runningRevision(port)) },
    }),
  }),
  route({
    method: 'POST',
    path: '/api/system/restart',
    scope: 'full',
    summary: 'Drains, then ends the process with 51 so that its owner starts it again',
    body: 'Nothing',
    changes: true,
    revision: runningRevision,
    answers: { 202: 'Accepted', 409: 'Problem', 429: 'Problem' },
    handle: async ({ port, caller, keep }) => {
      const answerOf = takenBy(port);
      await port.system.requestRestart(caller(), keep(answerOf));
      return answerOf('restarts');
    },
  }),
  route({
    method: 'POST',
    path: '/api/system/reload',
    scope: 'full',
    summary: 'Commits a new generation from the configuration as it is now',
    query: {
      'or-restart': {
        type: 'string',
        description: 'Restart where a reload cannot take a change in',
        maxLength: 5,
        enum: ['', '1', 'true'],
      },
    },
    body: 'Nothing',
    changes: true,
    revision: runningRevision,
    answers: { 200: 'Reloaded', 202: 'Accepted', 409: 'Problem' },
    handle: async ({ port, caller, query, revision, keep }) => {
      const answerOf = takenBy(port);
      const orRestart = query['or-restart'] !== undefined;
      const isMeant = (): boolean => revision === undefined || revision === runningRevision(port);
      try {
        return answerOf(await port.system.reload(caller(), { orRestart, isMeant, keep: keep(answerOf) }));
      } catch (error) {
        if (!orRestart || !(error instanceof SvcError) || error.code !== 'restart_required') throw error;
        return answerOf('restarts');
      }
    },
  }),
];

/**
 * The status for demo scope. Reasons in words may contain configured values, names of accounts or an operator's text.
 * The digest of the configuration and exact sizes are left out too, because values could be guessed from them.
 */
function withoutTexts({ reasons: _r, configVersion: _v, ...status }: Readonly<Record<string, unknown>>): unknown {
  const { ingress, inbox, lastFailure, checkpoint } = status;
  return {
    ...status,
    ...(isObject(inbox) && 'items' in inbox ? { inbox: { items: inbox.items } } : {}),
    ...(isObject(ingress) ? { ingress: { ...ingress, reason: null, by: null } } : {}),
    ...(isObject(checkpoint) && 'level' in checkpoint && 'fault' in checkpoint
      ? { checkpoint: { ...checkpoint, fault: checkpoint.fault === null ? null : checkpoint.level } }
      : {}),
    ...(isObject(lastFailure) ? { lastFailure: { ...lastFailure, reason: null } } : {}),
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
