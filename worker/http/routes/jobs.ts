// Scheduled jobs: list, show, change, run, runs. The ETag of a job is the revision of the file.
import type { ChangedJob } from '../api/jobs-api.ts';
import { integerOf, PAGE_QUERY } from '../request/query-check.ts';
import { tagOf } from '../request/revision.ts';
import { type Answer, type Exchange, type QueryField, type Route, route } from './route.ts';

const PUT_QUERY = {
  targets: {
    type: 'string',
    description: 'required: refuses a job whose account or command is not there',
    maxLength: 10,
    enum: ['required'],
  },
} as const satisfies Record<string, QueryField>;

const changedAnswer = ({ job, revision, isNew }: ChangedJob): Answer =>
  job === undefined
    ? { status: 204, headers: { ETag: tagOf(revision) } }
    : { status: isNew ? 201 : 200, json: job, headers: { ETag: tagOf(revision) } };

const pausing = (action: 'pause' | 'resume', summary: string): Route =>
  route({
    method: 'POST',
    path: `/api/jobs/{id}/${action}`,
    scope: 'full',
    summary,
    body: 'Nothing',
    changes: true,
    revision: 'handler',
    answers: { 200: 'Job', 409: 'Problem', 412: 'Problem' },
    handle: async ({ port, params, caller, revision, keep }) => {
      const change = { caller: caller(), revision, keep: keep(changedAnswer) };
      return changedAnswer(await port.jobs.setPaused(params.id ?? '', action === 'pause', change));
    },
  });

const runsOf = async (
  { port, caller, query }: Pick<Exchange<undefined>, 'port' | 'caller' | 'query'>,
  id: string | undefined,
): Promise<Answer> => ({
  status: 200,
  json: await port.jobs.runs(id, {
    after: query.after,
    limit: integerOf(query, 'limit', PAGE_QUERY),
    texts: caller().scope === 'full',
  }),
});

export const jobRoutes = [
  route({
    method: 'GET',
    path: '/api/jobs',
    scope: 'demo',
    summary: 'The jobs file and its jobs, with the next due time and the last run of each',
    answers: { 200: 'Jobs' },
    handle: async ({ port, caller }) => ({ status: 200, json: await port.jobs.list(caller().scope === 'full') }),
  }),
  route({
    method: 'GET',
    path: '/api/jobs/{id}',
    scope: 'demo',
    summary: 'One job',
    answers: { 200: 'Job' },
    handle: async ({ port, caller, params }) => {
      const { job, revision } = await port.jobs.show(params.id ?? '', caller().scope === 'full');
      return { status: 200, json: job, headers: { ETag: tagOf(revision) } };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/jobs/{id}',
    scope: 'full',
    summary: 'Adds or replaces a job in the file',
    query: PUT_QUERY,
    body: 'JobEntry',
    changes: true,
    revision: 'handler',
    answers: { 200: 'Job', 201: 'Job', 409: 'Problem', 412: 'Problem' },
    handle: async ({ port, params, caller, revision, body, keep, query }) => {
      const change = {
        caller: caller(),
        revision,
        needsTarget: query.targets === 'required',
        keep: keep(changedAnswer),
      };
      return changedAnswer(await port.jobs.put(params.id ?? '', body as Readonly<Record<string, unknown>>, change));
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/jobs/{id}',
    scope: 'full',
    summary: 'Removes a job from the file; an open run goes on, waiting ones are skipped',
    body: 'Nothing',
    changes: true,
    revision: 'handler',
    answers: { 204: 'nothing', 409: 'Problem', 412: 'Problem' },
    handle: async ({ port, params, caller, revision, keep }) =>
      changedAnswer(await port.jobs.remove(params.id ?? '', { caller: caller(), revision, keep: keep(changedAnswer) })),
  }),
  route({
    method: 'POST',
    path: '/api/jobs/{id}/run',
    scope: 'full',
    summary: 'Runs a job now',
    body: 'Nothing',
    changes: true,
    answers: { 202: 'JobStarted', 409: 'Problem', 503: 'Problem' },
    handle: async ({ port, params, caller, keep }) => {
      const answerOf = (run: { readonly runId: string }): Answer => ({ status: 202, json: run });
      return answerOf(await port.jobs.run(params.id ?? '', { caller: caller(), keep: keep(answerOf) }));
    },
  }),
  pausing('pause', 'Pauses a job: what is due meanwhile is not missed'),
  pausing('resume', 'Goes on with a paused job from now'),
  route({
    method: 'GET',
    path: '/api/jobs/{id}/runs',
    scope: 'demo',
    summary: 'A page of the runs of a job, the newest first',
    query: PAGE_QUERY,
    answers: { 200: 'JobRuns' },
    handle: (exchange) => runsOf(exchange, exchange.params.id),
  }),
  route({
    method: 'GET',
    path: '/api/job-runs',
    scope: 'demo',
    summary: 'A page of the runs of all jobs, the newest first',
    query: PAGE_QUERY,
    answers: { 200: 'JobRuns' },
    handle: (exchange) => runsOf(exchange, undefined),
  }),
];
