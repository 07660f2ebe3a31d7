// Checkpoints: list, show, plan, make, verify. A restore is a command alone, since only a stopped host can be restored.
import { type Route, route } from '../route.ts';

export const checkpointRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/checkpoints',
    scope: 'demo',
    summary: 'Checkpoints, the newest first; the one that is being made, and the last failure',
    answers: { 200: 'Checkpoints' },
    handle: async ({ port, caller }) => ({ status: 200, json: await port.checkpoints.list(caller().scope === 'full') }),
  }),
  route({
    method: 'GET',
    path: '/api/checkpoints/{name}',
    scope: 'demo',
    summary: 'One checkpoint with its manifest',
    answers: { 200: 'Checkpoint' },
    handle: async ({ port, caller, params }) => ({
      status: 200,
      json: await port.checkpoints.show(params['name'] ?? '', caller().scope === 'full'),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/checkpoints/{name}/plan',
    scope: 'full',
    summary: 'What a restore would do now: what is lost, what stays done, what comes along',
    answers: { 200: 'RestorePlan', 409: 'Problem', 503: 'Problem', 504: 'Problem' },
    handle: async ({ port, params }) => ({ status: 200, json: await port.checkpoints.plan(params['name'] ?? '') }),
  }),
  route({
    method: 'POST',
    path: '/api/checkpoints',
    scope: 'full',
    summary: 'Makes a checkpoint; `checkpoint.created` or `checkpoint.failed` tells its end',
    body: 'CheckpointMake',
    changes: true,
    answers: { 202: 'CheckpointBegun', 409: 'Problem', 503: 'Problem' },
    handle: async ({ port, caller, body }) => ({
      status: 202,
      json: await port.checkpoints.create(caller(), { reason: body.reason ?? null }),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/checkpoints/{name}/verify',
    scope: 'full',
    summary: 'Rehearses a restore of a checkpoint; `checkpoint.verified` tells its end',
    body: 'CheckpointVerify',
    changes: true,
    answers: { 202: 'CheckpointBegun', 409: 'Problem' },
    handle: async ({ port, caller, params, body }) => ({
      status: 202,
      json: await port.checkpoints.verify(caller(), params['name'] ?? '', { quick: body.quick ?? false }),
    }),
  }),
];
