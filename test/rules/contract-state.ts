// Sections 4 to 7 of the contract (events, state, command line, metrics): what contract-requirements.ts and requirements.ts do not hold → tests, each
// control frame, state, command and metric for itself.
import type { Requirement } from './requirements.ts';

/** What the contract names of features that are not there. */
export const WITHOUT_PART: Readonly<Record<string, string>> = {
  'contract 5: tables and files of the Workroom': 'no Workroom',
  'contract 5: data/schedule-jobs.json': 'no jobs file',
  'contract 5: checkpoints': 'no checkpoints',
  'command accept': 'no releases',
  'command alerts': 'no alerts',
  'command checkpoint': 'no checkpoints',
  'command release': 'no releases',
  'command workroom': 'no Workroom',
  'command jobs': 'no jobs file',
  'command agents': 'no agents',
  'command deploy': 'no deployment templates but those of `svc service`',
  'command migrate': 'nothing to migrate from',
  svc_workroom_items: 'no Workroom',
  svc_workroom_blocked_oldest_seconds: 'no Workroom',
  svc_agent_runs_total: 'no agents',
  svc_job_runs_total: 'no jobs file',
  svc_jobs_missed_total: 'no jobs file',
  svc_checkpoint_age_seconds: 'no checkpoints',
  svc_checkpoint_verified_seconds: 'no checkpoints',
};

export const FRAMES: readonly string[] = ['hello', 'gap', 'live', 'bookmark', 'drain'].map(
  (name) => `frame svc.${name}`,
);

export const COMMANDS: readonly string[] = (
  'init doctor accept alerts help chat runtime service ingress checkpoint release workroom jobs inbox ' +
  'outbox endpoints plugins agents webhooks events config token deploy migrate'
)
  .split(' ')
  .map((name) => `command ${name}`);

export const METRICS: readonly string[] = (
  'build_info ready generation restarts_total endpoint_online sse_clients sse_gaps_total ' +
  'log_messages_total database_bytes disk_free_bytes inbox_pending inbox_oldest_seconds outbox_pending ' +
  'outbox_dead workroom_items workroom_blocked_oldest_seconds agent_runs_total job_runs_total ' +
  'jobs_missed_total webhooks_total checkpoint_age_seconds checkpoint_verified_seconds'
)
  .split(' ')
  .map((name) => `svc_${name}`);

const HELLO = 'says hello, goes live and follows commits in order';
const GAPS = 'answers each kind of bad id with an explicit gap and goes on from the oldest';
const LIFE = 'starts, says how it is, takes work, restarts, reloads, shows its log, and stops';
const USED = 'chats, lists, pauses, disables and follows';
const NAMES = 'are valid text, carry the project, and have the names of the contract';

export const STATE: readonly Requirement[] = [
  {
    id: 'contract 4: an event is stored in the unit of its change, then published',
    tests: [
      'numbers events strictly by one, and a refused unit takes none (H1)',
      'is over in the unit that stores it, with both events',
      'loses nothing and says nothing twice over ${KILLS} kills',
      'finds ${plant}',
    ],
  },
  {
    id: 'contract 4: the envelope is CloudEvents 1.0 with our extensions',
    tests: ['holds the whole envelope for full scope', HELLO],
  },
  {
    id: 'contract 4: types come from a registry; one that is not there fails the build',
    tests: [
      'has a schema of plain fields and shows demo only fields that exist',
      'keeps the names of the host from plugins (E4)',
      'stores the version, the subject of an item, and the bytes of its data',
    ],
  },
  { id: 'frame svc.hello', tests: [HELLO] },
  {
    id: 'frame svc.gap',
    tests: [
      GAPS,
      'jumps to the head or answers 410 where the client asks for it',
      'names the first reason that applies',
    ],
  },
  { id: 'frame svc.live', tests: [HELLO] },
  {
    id: 'frame svc.bookmark',
    tests: [
      'filters by type and endpoint and moves a filtered client on with bookmarks',
      'sends a bookmark each 1,000 events that a filter holds back, while it replays',
    ],
  },
  { id: 'frame svc.drain', tests: ['tells clients to come back soon when it drains, and takes no more'] },
  {
    id: 'contract 4: a heartbeat each 15 s, and the headers of a stream',
    tests: [
      HELLO,
      'comes at every interval, also where something was sent within it: the silence after that would last two',
    ],
  },
  {
    id: 'contract 4: Last-Event-ID beats lastEventId',
    tests: [
      'hands every kind of Last-Event-ID on and cuts none in silence (row 36)',
      'begins after the header Last-Event-ID, which beats the parameter',
    ],
  },
  {
    id: 'contract 4: each reason of a gap, counted',
    tests: [
      GAPS,
      'gives a lagging client a gap when history moves past it, never a hole',
      'gives every event after any id exactly once, or an explicit gap (C2, C3)',
    ],
  },
  {
    id: 'contract 4: filters of types and endpoints',
    tests: [
      'filters by type and endpoint and moves a filtered client on with bookmarks',
      'lets through what its patterns name',
      'takes an endpoint in full or by its short name',
    ],
  },
  {
    id: 'contract 4: load, then subscribe from the position of the answer',
    tests: ['names the position of a snapshot, read before its data (contract 4)'],
  },
  {
    id: 'contract 4: bounded memory for each client, 30 s without a drain',
    tests: [
      'cuts a client that never reads, keeps memory bounded, and lets it resume exactly',
      'cuts a peer that never reads',
      'is closed after thirty seconds in which nothing was taken',
    ],
  },
  {
    id: 'contract 5: where state lies, for its owner alone',
    tests: [
      'fills in every default',
      'keeps its lock whatever it is asked, and files that only its owner can read',
      'is refused when it is a link, a file or a stranger’s; root’s with our group is accepted (F1, F2)',
      'is refused with mode ${mode.toString(8)} (F1)',
    ],
  },
  {
    id: 'contract 5: states of items: received, handling, waiting, done, dead',
    tests: [
      'do in ${state} what the machine says (I1)',
      'refuse parameters that they do not know, and values out of range',
    ],
  },
  {
    id: 'contract 5: states of sends: pending, sending, sent, waiting, unknown, dead',
    tests: [
      'take a send that is ${state} where they may, and leave it open or ended',
      'refuses a state that the store does not have',
    ],
  },
  {
    id: 'contract 5: states of endpoints: disabled, connecting, online, degraded, offline, failed',
    tests: [
      'takes an account that is admitted, connected or not',
      'takes deliveries unless it is disabled or failed, sends only while it is connected',
    ],
  },

  { id: 'command init', tests: ['makes a project whose configuration loads in production'] },
  { id: 'command doctor', tests: ['finds nothing wrong with a good project, and changes nothing'] },
  { id: 'command help', tests: ['lists exit codes and variables'] },
  { id: 'command chat', tests: ['sends each line of a pipe and prints its answers in order', USED] },
  { id: 'command runtime', tests: [LIFE, 'serves the same commands, and ends with 0 on SIGTERM'] },
  {
    id: 'command service',
    tests: [
      'writes service and socket for all to read, makes the two folders for itself, and enables both',
      'starts and stops socket and service together, and clears a spent limit first',
      'removes both units and leaves data, configuration and secrets',
    ],
  },
  {
    id: 'command ingress',
    tests: ['pauses for a duration and says so, resumes, and answers with 1 while paused', USED],
  },
  {
    id: 'command inbox',
    tests: [
      'lists a page with its filters, control characters shown',
      'replays what it has read: revision and one idempotency key',
      'drops with a reason only, and says when there is no such item',
      'ends as dead with its event, its running handler stores nothing, its lane goes on, and a replay brings it back',
      'is listed, shown and changed after a kill; the next start has what was changed, and handles the rest',
      'is changed beside a worker that hangs; the next one does not take that item again, and handles the others',
    ],
  },
  {
    id: 'command outbox',
    tests: [
      'drops with a reason only, and says when there is no such item',
      'goes out again, or is taken as sent, or is dropped by the word of an operator',
    ],
  },
  {
    id: 'command endpoints',
    tests: ['lists, shows with an exit code that says online, and acts on an id with slashes', USED],
  },
  {
    id: 'command plugins',
    tests: ['lists the plugins of the current generation, who is asked before whom, and what else they registered'],
  },
  {
    id: 'command webhooks',
    tests: ['prints all addresses, and how each is registered', 'registers one under an idempotency key'],
  },
  {
    id: 'command events',
    tests: [
      'prints what is stored after an id and ends with --no-follow',
      'goes on over a restart of the host without a hole, and shows a gap as a line',
    ],
  },
  {
    id: 'command config',
    tests: [
      'says that a configuration is valid, and warns',
      'prints one document with the source of each path',
      'prints the schema for editors',
    ],
  },
  { id: 'command token', tests: ['needs no host to make a token'] },
  {
    id: 'contract 6: status commands exit with 0 only when it is up and well',
    tests: [
      'is nothing that runs: status ends with 3',
      'ends with 1 and the reasons when the host is up and not ready in time; the daemon stays',
      'lists, shows with an exit code that says online, and acts on an id with slashes',
      'pauses for a duration and says so, resumes, and answers with 1 while paused',
      'answers status with 3 where nothing is installed or runs, and with 1 while it is not ready',
    ],
  },
  {
    id: 'contract 6: a short answer loads little',
    tests: ['by the commands that ask a running host', 'until it listens'],
  },
  {
    id: 'contract 6: doctor --live: token, 5 s, no redirect, no plain HTTP to elsewhere',
    tests: [
      'prints the report unchanged, below the base, with the token',
      {
        file: 'process/cli/doctor.test.ts',
        title: 'exits 1 on ${title}',
        cases: ['not ready', 'a refused token', 'a demo token', 'a redirect', 'some other server'],
      },
      'says when nobody answers',
      'sends nothing without a token, and no token over plain HTTP to another machine',
      'tells the state of a real host',
    ],
  },
  {
    id: 'contract 6: --once --mode test beside a running host, without a trace',
    tests: [
      'of ${AT_ONCE} at once beside a running daemon, which goes on undisturbed (51)',
      'in a fresh project, and needs no port',
      'for a database of a newer svc, which it leaves as it is',
      'for accounts and bindings that readiness asks for and nothing has',
    ],
  },

  ...(
    'build_info ready generation endpoint_online sse_clients log_messages_total database_bytes ' +
    'disk_free_bytes inbox_pending inbox_oldest_seconds outbox_pending outbox_dead'
  )
    .split(' ')
    .map((name) => ({ id: `svc_${name}`, tests: [NAMES] })),
  {
    id: 'svc_restarts_total',
    tests: [
      'tells of the start before it in the status, and of the first one nothing',
      'keeps its newest rows; the others are counted on, in status and metrics (L1)',
    ],
  },
  { id: 'svc_sse_gaps_total', tests: [NAMES, GAPS] },
  { id: 'svc_webhooks_total', tests: [NAMES, 'turns deliveries away while ingress rejects, and counts them'] },
  {
    id: 'contract 7: histograms of HTTP, lag of the event loop, figures of the process; all carry the project',
    tests: [
      NAMES,
      'puts each answer into its buckets, and into its class of status',
      'are those of this process, in bytes and seconds',
      'masks what has become a secret',
    ],
  },
];
