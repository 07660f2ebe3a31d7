// Whether a running host is accepted: six questions, each answered from facts. Pure, so that command, host and page judge alike.
//
//   ACCEPTANCE-1  `no`: a fact says that something is wrong. `unknown`: no fact says that it is right. A person may settle an unknown, never a no.
//   ACCEPTANCE-2  A row is as good as the worst of what it consists of.
import type { AcceptanceFacts, AcceptanceRow, HealthAnswer, ServedVersion } from '../api/recovery/acceptance.ts';

export const ACCEPTANCE_ROWS = ['health', 'host', 'endpoints', 'capability', 'authority', 'quiet'] as const;
export type AcceptanceRowName = (typeof ACCEPTANCE_ROWS)[number];
/** Reasons of a person, by row. */
export type Settled = Readonly<Partial<Record<AcceptanceRowName, string>>>;

interface Finding {
  readonly answer: AcceptanceRow['answer'];
  readonly evidence: string;
  readonly remedy?: string;
}

const yes = (evidence: string): Finding => ({ answer: 'yes', evidence });
const no = (evidence: string, remedy: string): Finding => ({ answer: 'no', evidence, remedy });
const unknown = (evidence: string, remedy: string): Finding => ({ answer: 'unknown', evidence, remedy });

const QUESTIONS: Readonly<Record<AcceptanceRowName, (facts: AcceptanceFacts) => readonly Finding[]>> = {
  health: healthFindings,
  host: hostFindings,
  endpoints: endpointFindings,
  capability: capabilityFindings,
  authority: authorityFindings,
  quiet: quietFindings,
};

export function judgeAcceptance(facts: AcceptanceFacts, settled: Settled = {}): AcceptanceRow[] {
  return ACCEPTANCE_ROWS.map((row) => rowOf(row, QUESTIONS[row](facts), settled[row]));
}

export const isAccepted = (rows: readonly Pick<AcceptanceRow, 'answer' | 'settled'>[]): boolean =>
  rows.every(({ answer, settled }) => answer === 'yes' || (answer === 'unknown' && settled !== null));

const WORST_FIRST = ['no', 'unknown', 'yes'] as const;

function rowOf(row: string, findings: readonly Finding[], reason: string | undefined): AcceptanceRow {
  const sorted = WORST_FIRST.flatMap((answer) => findings.filter((finding) => finding.answer === answer));
  const answer = sorted[0]?.answer ?? 'unknown';
  const remedies = sorted.flatMap((finding) =>
    finding.answer === answer && finding.remedy !== undefined ? [finding.remedy] : [],
  );
  return {
    row,
    answer,
    evidence: sorted.map(({ evidence }) => evidence),
    remedy: remedies.length === 0 ? null : [...new Set(remedies)].join('; '),
    settled: answer === 'unknown' ? (reason ?? null) : null,
  };
}

function healthFindings({ health: [first, own] }: AcceptanceFacts): readonly Finding[] {
  if (first === undefined)
    return [unknown('nobody has asked for /pub/health', 'svc accept asks, from the machine that it runs on')];
  const { url, status, reason, ms } = first;
  if (isUp(first)) return [yes(`${url} answers ${status} in ${ms} ms`)];
  const evidence = `${url}: ${reason ?? `answers ${status}`}`;
  if (status !== null || own === undefined)
    return [no(evidence, 'svc runtime status says what runs; svc doctor --edge asks through the proxy')];
  if (!isUp(own)) return [no(evidence, 'svc runtime status'), no(`${own.url}: ${own.reason}`, 'svc runtime status')];
  return [
    unknown(
      evidence,
      'open the address from outside; a network that lets no machine reach its own public address is settled',
    ),
    yes(`${own.url} answers ${own.status} in ${own.ms} ms`),
  ];
}

const isUp = ({ status, reason }: HealthAnswer): boolean => status === 200 && reason === null;

function hostFindings(facts: AcceptanceFacts): readonly Finding[] {
  const { host, release, accepted } = facts;
  const project =
    accepted === null || accepted.host.project === host.project
      ? yes(`project ${host.project}`)
      : no(
          `project ${host.project}, accepted was ${accepted.host.project}`,
          'this is the state of another project: svc runtime status, svc checkpoint list',
        );
  if (release !== null) return [project, ...releasedFindings(host, release)];
  const named = FIELDS.map((field) => `${field.title} ${field.shown(host)}`).join(', ');
  if (accepted === null)
    return [
      project,
      unknown(
        `nothing was accepted before; this is ${named}`,
        'look at it, then settle it: it is the first acceptance',
      ),
    ];
  const changed = FIELDS.filter(({ of }) => of(host) !== of(accepted.host));
  if (changed.length === 0) return [project, yes(`as accepted ${accepted.at}: ${named}`)];
  return [
    project,
    ...changed.map(({ title, shown }) =>
      unknown(
        `${title} ${shown(host)}, accepted was ${shown(accepted.host)}`,
        'settle it if that was meant; svc release and svc checkpoint restore go back',
      ),
    ),
  ];
}

interface Field {
  readonly title: string;
  readonly of: (host: ServedVersion) => string | null;
  readonly shown: (host: ServedVersion) => string;
}

const short = (hash: string | null): string => hash?.replace(/^sha256:/, '').slice(0, 12) ?? 'none';

const commitText = ({ commit, dirty }: Pick<ServedVersion, 'commit' | 'dirty'>): string =>
  `${short(commit)}${dirty ? ' with changes' : ''}`;

const FIELDS: readonly Field[] = [
  { title: 'svc', of: ({ svc }) => svc, shown: ({ svc }) => svc },
  { title: 'commit', of: commitText, shown: commitText },
  { title: 'configuration', of: (host) => host.configVersion, shown: (host) => short(host.configVersion) },
  { title: 'lockfile', of: ({ lockfile }) => lockfile, shown: ({ lockfile }) => short(lockfile) },
];

/** What the release does not say cannot be compared. */
function releasedFindings(host: ServedVersion, release: NonNullable<AcceptanceFacts['release']>): readonly Finding[] {
  const { name, state } = release;
  if (state === 'begun' || state === 'checked')
    return [
      no(
        `release ${name} is ${state}: the version before it runs`,
        `svc release ${state === 'begun' ? 'check' : 'start'}`,
      ),
    ];
  const pairs = [
    ['svc', host.svc, release.svc],
    ['commit', host.commit, release.commit],
    ['configuration', host.configVersion, release.configVersion],
    ['lockfile', host.lockfile, release.lockfile],
  ] as const;
  const compared = pairs.flatMap(([title, now, meant]): Finding[] => {
    if (meant === null) return [];
    if (now === meant) return [yes(`${title} ${short(now)}, as ${name} says`)];
    const evidence = `${title} ${short(now)}, ${name} says ${short(meant)}`;
    if (title === 'commit' && !host.isRoot)
      return [
        unknown(
          `${evidence}: the repository begins above the project, and git does not follow a release there`,
          'compare the code by hand, then settle it',
        ),
      ];
    return [no(evidence, 'svc release status; svc release rollback goes back')];
  });
  if (compared.length > 0) return compared;
  return [unknown(`release ${name} does not say what its version consists of`, 'compare it by hand, then settle it')];
}

function endpointFindings({ endpoints, begin, release, isPaused }: AcceptanceFacts): readonly Finding[] {
  if (endpoints.length === 0) return [yes('no endpoint is required, and none is enabled')];
  return endpoints.map((endpoint) => endpointFinding(endpoint, { begin, isPaused, isRelease: release !== null }));
}

function endpointFinding(
  { id, state, reason, remedy, isSandbox, handled, open, dead, lastAt }: AcceptanceFacts['endpoints'][number],
  { begin, isPaused, isRelease }: { readonly begin: string; readonly isPaused: boolean; readonly isRelease: boolean },
): Finding {
  const name = id.slice(id.indexOf(':') + 1);
  if (state === null) return no(`${id} is required, and not there`, 'svc endpoints list; svc config check');
  if (state !== 'online')
    return no(
      `${id} is ${state}${reason === null ? '' : `: ${reason}`}`,
      remedy ?? (state === 'disabled' ? `svc endpoints enable ${name}` : `svc endpoints reconnect ${name}`),
    );
  const last = `last in ${lastAt ?? '-'}`;
  if (handled > 0) return yes(`${id} is online, ${handled} handled since ${begin}, ${last}`);
  if (open > 0 && isRelease && isPaused) return yes(`${id} is online, ${open} parked since ${begin}, ${last}`);
  if (open > 0)
    return unknown(
      `${id} is online, ${open} came in since ${begin} and none is handled yet`,
      isPaused ? 'ingress is paused: svc ingress resume' : 'wait for it: svc accept --wait 60s; svc inbox list',
    );
  if (dead > 0)
    return no(`${id} is online, and all ${dead} that came in since ${begin} are dead`, 'svc inbox list --state dead');
  return unknown(
    `${id} is online, and nothing came in since ${begin}`,
    isSandbox ? 'svc accept asks it by itself' : `write anything to ${name}, with svc accept --wait 60s`,
  );
}

function capabilityFindings({ capability, accepted }: AcceptanceFacts): readonly Finding[] {
  const { generation, failure, capabilities, endpoints } = capability;
  const failed =
    failure === null
      ? []
      : [
          no(
            `${failure.code}: ${failure.reason}`,
            'mend what it says, then: svc runtime reload, or svc runtime restart',
          ),
        ];
  if (generation === null) return [...failed, no('no generation serves', 'svc runtime status says why')];
  const has = `generation ${generation} has ${capabilities.length} capabilities and ${endpoints.length} endpoints`;
  if (accepted === null) return [...failed, yes(`${has}; nothing was accepted before`)];
  const gone = [
    ...accepted.capabilities.filter((id) => !capabilities.includes(id)),
    ...accepted.endpoints.filter((id) => !endpoints.includes(id)),
  ];
  if (gone.length === 0) return [...failed, yes(`${has}, with all that was accepted ${accepted.at}`)];
  return [
    ...failed,
    yes(has),
    ...gone.map((id) => unknown(`${id} is gone, and was accepted ${accepted.at}`, 'settle it if that was meant')),
  ];
}

function authorityFindings({ authority }: AcceptanceFacts): readonly Finding[] {
  const { database, served, events, journal, jobs } = authority;
  const isSame = database.project === served.project && database.epoch === served.epoch;
  return [
    isSame
      ? yes(`database and events name project ${served.project}, timeline ${served.epoch}`)
      : no(
          `the database names project ${database.project}, timeline ${database.epoch}; events name ${served.project}, ${served.epoch}`,
          'the database was exchanged under the host: svc runtime restart',
        ),
    eventFinding(events),
    ...(journal === null ? [] : journalFindings(journal, served.project)),
    jobs.state === 'refused'
      ? no(`the jobs file is refused: ${jobs.reason}`, 'svc jobs check names each fault; the last good jobs go on')
      : yes(jobs.state === 'absent' ? 'no scheduled jobs' : `jobs of revision ${jobs.revision} run as the file says`),
  ];
}

function eventFinding({ oldest, head, first, last, count }: AcceptanceFacts['authority']['events']): Finding {
  const expected = head - oldest + 1;
  const isWhole = count === expected && (count === 0 || (first === oldest && last === head));
  if (isWhole) return yes(`events ${oldest} to ${head} without a hole`);
  return no(
    `events ${oldest} to ${head} are ${expected}, and ${count} are stored (${first ?? '-'} to ${last ?? '-'})`,
    'the database is damaged: svc doctor; svc checkpoint list names what can be restored',
  );
}

type JournalFacts = NonNullable<AcceptanceFacts['authority']['journal']>;

function journalFindings(
  { store, project, head, appliedSeq, verified }: JournalFacts,
  served: string,
): readonly Finding[] {
  const remedy = 'svc workroom verify names each fault; svc workroom rebuild makes the catalog anew';
  const foreign =
    project === null || project === served
      ? []
      : [no(`the files of the journal are of project ${project}`, 'svc checkpoint list: restore both together')];
  const catalog =
    appliedSeq <= head.seq ? [] : [no(`the catalog is at ${appliedSeq}, the journal ends at ${head.seq}`, remedy)];
  return [...foreign, ...catalog, proofFinding({ store, head, verified }, remedy)];
}

function proofFinding(
  { store, head, verified }: Pick<JournalFacts, 'store' | 'head' | 'verified'>,
  remedy: string,
): Finding {
  const at = `the journal (${store}) at ${head.seq}`;
  if (verified === null)
    return unknown(
      `${at} was not proven since the start`,
      'wait: the host proves it after a start; svc workroom status',
    );
  if (verified.faults > 0) return no(`${at} has ${verified.faults} faults, proven ${verified.at}`, remedy);
  const isBehind = verified.seq > head.seq || (verified.seq === head.seq && verified.hash !== head.hash);
  if (isBehind) return no(`${at} is not the one that was proven to ${verified.seq} ${verified.at}`, remedy);
  return yes(`${at}, proven to ${verified.seq} ${verified.at}, head ${short(head.hash)}`);
}

function quietFindings({
  quiet: { dead, diedSince, critical, unknown: unseen },
  begin,
}: AcceptanceFacts): readonly Finding[] {
  const alerts = [
    ...critical.map((name) =>
      no(`the critical alert ${name} fires`, 'svc alerts says what for, and the runbook what to do'),
    ),
    ...unseen.map((name) =>
      unknown(`nobody knows whether the critical alert ${name} fires`, 'svc alerts names the figures that are missing'),
    ),
  ];
  if (diedSince === 0)
    return [
      ...alerts,
      yes(`no dead letter since ${begin}; ${dead} from before${alerts.length === 0 ? '; no critical alert' : ''}`),
    ];
  return [
    ...alerts,
    no(
      `${diedSince} dead letters since ${begin}, ${dead} in all`,
      'svc inbox list --state dead, svc outbox list --state dead: mend the cause, then replay or drop them',
    ),
  ];
}
