// The facts of an acceptance, from every part of the host.
import type { AcceptanceFacts } from '../../../shared/api/recovery/acceptance.ts';
import { processEnvironment } from '../../../shared/config/environment.ts';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { endpointId } from '../../../shared/identifiers.ts';
import { imageCommit } from '../../../shared/recovery/image-commit.ts';
import { openRelease } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { readDateTime } from '../../../shared/time/date-time.ts';
import { VERSION } from '../../../shared/version.ts';
import { readMeta } from '../../database/project-state.ts';
import { sql } from '../../database/statement.ts';
import type { Reader } from '../../database/unit.ts';
import type { EndpointRunner } from '../../endpoints/endpoint-runner.ts';
import type { AcceptanceSpan } from '../../http/api/acceptance-api.ts';
import { countDead } from '../../metrics/stored-figures.ts';
import { isRepositoryRoot, readCommit } from '../../recovery/checkpoint/project-files.ts';
import { hashOf } from '../../recovery/verify/parts.ts';
import { shownFailure } from '../../runtime/generations/last-failure.ts';
import type { Parts } from '../app-parts.ts';

const DAY_S = 86_400;
/** So many of the newest items of an account are looked at. */
const NEWEST = 200;

/** Throws `invalid_request` for a time that is none, `storage_unavailable` without a database. */
export async function acceptanceFacts(parts: Parts, span: AcceptanceSpan): Promise<AcceptanceFacts> {
  const { core, options, facts, engine, database } = parts;
  if (facts.state === undefined)
    throw new SvcError('storage_unavailable', 'nothing can be accepted: the database is not open', {
      hint: 'svc runtime status says why',
      details: { retryAfterMs: 2_000 },
    });
  const { project } = options;
  const now = core.clock.now();
  const release = releaseOf(project);
  const begin = release?.begin ?? beginOf(span, now);
  const { runtime, gate } = engine;
  const { config } = runtime.loaded;
  const candidate = runtime.current?.candidate;
  return {
    at: new Date(now).toISOString(),
    begin: new Date(begin).toISOString(),
    release: release?.shown ?? null,
    isPaused: gate.holds,
    address: config.http.publicUrl === undefined ? null : addressOf(config.http.publicUrl, config.http.base),
    health: [],
    host: await servedBy(project, facts.state.projectId, runtime.loaded),
    accepted: await lastAccepted(core.reader),
    endpoints: await endpointFacts(parts, begin),
    capability: {
      generation: runtime.current?.number ?? null,
      failure: shownFailure(runtime, database.state),
      capabilities: (candidate?.capabilities.all() ?? []).map(({ id }) => id).toSorted(),
      endpoints: (candidate?.endpoints ?? []).map(({ id }) => id).toSorted(),
    },
    authority: {
      database: {
        project: (await readMeta(core.reader, 'project_id')) ?? null,
        epoch: (await readMeta(core.reader, 'epoch')) ?? null,
      },
      served: { project: core.projectId, epoch: facts.state.epoch },
      events: await eventFacts(core.reader),
      journal: await journalFacts(parts),
      jobs: jobFacts(parts),
    },
    quiet: { ...(await deadFacts(core.reader, begin)), ...(await parts.alerts.critical()) },
  };
}

const addressOf = (publicUrl: string, base: string): string => `${publicUrl.replace(/\/$/, '')}${base}`;

function beginOf({ since, within = DAY_S }: AcceptanceSpan, now: number): number {
  if (since === undefined) return now - within * 1_000;
  const at = readDateTime(since);
  if (at === undefined)
    throw new SvcError('invalid_request', '`since` must be a time such as 2026-01-31T12:00:00Z', {
      hint: 'Or ask with `within`, in seconds.',
    });
  return at;
}

function releaseOf(project: string) {
  const record = openRelease(project);
  if (record === undefined) return undefined;
  const { name, state, steps, after } = record;
  return {
    begin: Date.parse(steps[0]?.at ?? ''),
    shown: {
      name,
      state,
      commit: after?.commit ?? null,
      lockfile: after?.lockfile ?? null,
      configVersion: after?.configVersion ?? null,
      svc: after?.svc ?? null,
    },
  };
}

async function servedBy(
  project: string,
  projectId: string,
  { version }: Pick<LoadedConfig, 'version'>,
): Promise<AcceptanceFacts['host']> {
  const checkedOut = await readCommit(project);
  const commit = checkedOut ?? imageCommit(processEnvironment());
  return {
    project: projectId,
    svc: VERSION,
    commit: commit?.id ?? null,
    dirty: commit?.dirty ?? false,
    isRoot: checkedOut === undefined ? commit !== undefined : await isRepositoryRoot(project),
    configVersion: version,
    lockfile: await hashOf(projectPaths(project).lockfile).catch(() => null),
  };
}

async function lastAccepted(reader: Reader): Promise<AcceptanceFacts['accepted']> {
  const row = await reader.first(
    sql.selectFrom('acceptances').select(['id', 'at', 'facts']).orderBy('id', 'desc').limit(1),
  );
  if (row === undefined) return null;
  const { host, capability } = JSON.parse(row.facts) as AcceptanceFacts;
  const { capabilities, endpoints } = capability;
  return { id: row.id, at: new Date(row.at).toISOString(), host, capabilities, endpoints };
}

async function endpointFacts({ core, engine }: Parts, begin: number): Promise<AcceptanceFacts['endpoints']> {
  const { endpoints: required } = engine.runtime.loaded.config.http.readiness;
  const runners = new Map(engine.endpoints.all().map((runner) => [runner.spec.id, runner]));
  const ids =
    required.length > 0
      ? required.map(({ owner, name }) => endpointId(owner, name))
      : [...runners.values()].filter(({ state }) => state.state !== 'disabled').map(({ spec }) => spec.id);
  return Promise.all(
    ids.map(async (id) => ({ id, ...stateOf(runners.get(id)), ...(await trafficOf(core.reader, id, begin)) })),
  );
}

const stateOf = (runner: EndpointRunner | undefined) => ({
  state: runner?.state.state ?? null,
  reason: runner?.state.lastError?.reason ?? null,
  remedy: runner?.state.lastError?.remedy ?? null,
  isSandbox: runner?.spec.adapter.name === 'sandbox',
});

async function trafficOf(reader: Reader, endpoint: string, begin: number) {
  const newest = await reader.all(
    sql
      .selectFrom('inbox')
      .select(['state', 'received_at'])
      .where('endpoint', '=', endpoint)
      .orderBy('seq', 'desc')
      .limit(NEWEST),
  );
  const since = newest.filter(({ received_at }) => received_at >= begin);
  const [last] = newest;
  return {
    handled: since.filter(({ state }) => state === 'done').length,
    dead: since.filter(({ state }) => state === 'dead').length,
    open: since.filter(({ state }) => state !== 'done' && state !== 'dead').length,
    lastAt: last === undefined ? null : new Date(last.received_at).toISOString(),
  };
}

/** One statement, so that all numbers are of one moment. */
const EVENTS = `SELECT count(*) AS count, min(seq) AS first, max(seq) AS last,
  (SELECT value FROM counters WHERE name = 'event') AS head,
  (SELECT value FROM counters WHERE name = 'event_oldest') AS oldest FROM event_log`;

type EventFacts = AcceptanceFacts['authority']['events'];
type StoredEvents = Omit<EventFacts, 'head' | 'oldest'> & {
  readonly head: number | null;
  readonly oldest: number | null;
};

async function eventFacts(reader: Reader): Promise<EventFacts> {
  const row = await reader.first<StoredEvents>({
    compile: () => ({ sql: EVENTS, parameters: [] }),
    execute: () => Promise.reject(new Error('a Reader runs it')),
  });
  return { count: 0, first: null, last: null, ...row, head: row?.head ?? 0, oldest: row?.oldest ?? 1 };
}

async function journalFacts({ core, workroom, options }: Parts): Promise<AcceptanceFacts['authority']['journal']> {
  const { api } = workroom;
  if (api === undefined) return null;
  const { store, head, verified } = await api.overview();
  const { projectOf } = await import('../../workroom/files/open-files.ts');
  const catalog = await core.reader.first(
    sql.selectFrom('workroom_catalog').select(({ fn }) => fn.max('applied_seq').as('seq')),
  );
  return {
    store,
    project: store === 'file' ? (projectOf(projectPaths(options.project).workroomJournal) ?? null) : null,
    head,
    appliedSeq: catalog?.seq ?? 0,
    verified: verified === null ? null : { ...verified, faults: verified.faults.length },
  };
}

function jobFacts({ jobs: { file, good } }: Parts): AcceptanceFacts['authority']['jobs'] {
  return {
    state: file.state,
    reason: file.state === 'refused' ? `${file.fault.line}:${file.fault.column} ${file.fault.message}` : null,
    revision: good?.document.revision ?? null,
  };
}

async function deadFacts(reader: Reader, begin: number): Promise<Pick<AcceptanceFacts['quiet'], 'dead' | 'diedSince'>> {
  const dead = await countDead(reader);
  const since = await countDead(reader, begin);
  return { dead: dead.inbox + dead.outbox, diedSince: since.inbox + since.outbox };
}
