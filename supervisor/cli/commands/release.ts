// `svc release`: a restore point, a switch of code, a watched window, and the way back.
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import { commandOf } from '../../../shared/recovery/pending-switch.ts';
import { commandAfter, next, type ReleaseCommand } from '../../../shared/recovery/release-machine.ts';
import { isEnded, listReleases, openRelease, type ReleaseRecord } from '../../../shared/recovery/release-record.ts';
import { readSwitch, type Switch } from '../../../shared/recovery/switch.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../command.ts';
import { textOption, textsOption } from '../options.ts';
import { otherUser } from '../other-user.ts';
import { shown } from '../output/printable.ts';
import { losesWork, planLines, takenBackText } from '../output/restore-text.ts';
import { begin as beginRelease, sourceOf } from '../release/begin.ts';
import { checkAhead } from '../release/check-tree.ts';
import { finishCut, formerCli, pendingFor, runAs } from '../release/hand-over.ts';
import { checkImage, isTakenBack, notReadyHint, rollbackImage, startImage } from '../release/image.ts';
import { notePause, openAgain } from '../release/pause.ts';
import { ensureFormer, rollback as goBack, removeTrees, rollbackByFormer } from '../release/rollback.ts';
import { releaseSettings } from '../release/settings.ts';
import * as steps from '../release/steps.ts';
import { type SvcCaller, treeOptions } from '../release/svc-call.ts';
import { failedTree, previousTree } from '../release/tree.ts';
import { readRestorePlan } from '../start/worker-entry.ts';

type Options = Readonly<Record<string, unknown>>;

const begin: Command = {
  noun: 'release',
  verb: 'begin',
  summary: 'Pauses ingress, waits for quiet, makes and checks the restore point',
  options: [
    { flags: '--to <commit>', description: 'A commit of the repository of this project' },
    { flags: '--from <folder>', description: 'A folder with the new code' },
    { flags: '--image', description: 'In a container: the new code is a new image' },
  ],
  examples: ['svc release begin --to v1.4.0', 'svc release begin --from ../shop-next'],
  writesState: true,
  async run(context, _args, options) {
    const project = context.project();
    const record = await beginRelease(
      { project, context },
      {
        to: textOption(options, 'to'),
        from: textOption(options, 'from'),
        image: options['image'] === true,
        actor: actorHere(),
        say: (line) => context.print.text(line),
      },
    );
    return tell(context, record);
  },
};

const checkOpen = step(
  'check',
  {
    summary: 'Installs, builds and tries the new code beside the running one',
    options: [
      {
        flags: '--to <commit>',
        description: 'Before begin: checks this commit, so that ingress is paused for seconds',
      },
      { flags: '--from <folder>', description: 'Before begin: the same for a folder' },
    ],
  },
  (of) => (isImage(of.record) ? checkImage(of) : steps.check(of)),
);
const check: Command = {
  ...checkOpen,
  examples: ['svc release check --to v1.4.0', 'svc release check'],
  async run(context, args, options) {
    const [to, from] = [textOption(options, 'to'), textOption(options, 'from')];
    if (to === undefined && from === undefined) return checkOpen.run(context, args, options);
    const project = context.project();
    const open = openRelease(project);
    if (open !== undefined)
      throw new SvcError('conflict', `release ${open.name} is ${open.state}`, {
        hint: 'svc release check, without a source',
      });
    const caller = { project, context };
    const source = await sourceOf({ to, from, image: false }, treeOptions(caller));
    const checked = await checkAhead(caller, source, (line) => context.print.text(line));
    if (context.json) context.print.json(checked);
    const given = source.kind === 'commit' ? `--to ${source.value.slice(0, 12)}` : `--from ${from ?? ''}`;
    context.print.text(context.print.color.dim(`next: svc release begin ${given}`));
    return EXIT.ok;
  },
};

const start = step(
  'start',
  {
    summary: 'Stops the host, exchanges the code, starts it; ingress stays paused',
    options: [{ flags: '--stay', description: 'Does not roll back where the new version does not get ready' }],
  },
  async (of, { context, options }) => {
    const { readySeconds } = await releaseSettings(context);
    const { record, fault } = await (isImage(of.record) ? startImage : steps.start)(of, readySeconds);
    if (fault === undefined) return record;
    if (isImage(record))
      throw new SvcError('refused', `the new image did not get ready: ${fault}`, { hint: notReadyHint(record) });
    if (options['stay'] === true)
      throw new SvcError('refused', `the new version did not get ready: ${fault}`, {
        hint: 'svc runtime logs; svc release start tries again, svc release rollback goes back',
      });
    of.say(`the new version did not get ready: ${fault}`);
    await rollbackByFormer(of);
    throw new SvcError('refused', `${record.name} was rolled back: the new version did not get ready: ${fault}`, {
      hint: 'the version of before serves again; svc release begin starts another one',
    });
  },
);

const accept = step(
  'accept',
  {
    summary: 'Asks `svc accept` about the new version, and keeps its evidence',
    options: [
      { flags: '--settle <row=reason>', description: 'As of `svc accept`; may be repeated', isRepeated: true },
      { flags: '--wait <duration>', description: 'As of `svc accept`' },
      { flags: '--reason <text>', description: 'Accepts it by your word, with this reason' },
    ],
  },
  async (of, { options }) =>
    steps.accept(of, {
      reason: textOption(options, 'reason'),
      settle: textsOption(options, 'settle'),
      wait: textOption(options, 'wait'),
    }),
);

const observe = step(
  'observe',
  { summary: 'Opens ingress: what was parked is handled, the window begins' },
  async (of, { context }) => steps.observe(of, (await releaseSettings(context)).windowHours),
);

const finish = step(
  'finish',
  {
    summary: 'Ends the release once its window is over and went well; what ran before goes',
    options: [{ flags: '--unclear', description: 'Also with an unclear verdict: there was little to judge by' }],
  },
  async (of) => steps.finish(of),
);

const rollback = step(
  'rollback',
  {
    summary: 'Goes back to code, lockfile, configuration and data of before',
    options: [{ flags: '--yes', description: 'Asks nothing, though work of the window is lost' }],
  },
  async (of, { context, options }) => {
    if (await takesDataBack(of)) await agreeToLoss(context, of.record, options['yes'] === true);
    return isImage(of.record) ? rollbackImage(of) : goBack(of, (await releaseSettings(context)).readySeconds);
  },
);

const status: Command = {
  noun: 'release',
  verb: 'status',
  summary: 'Says how the release stands, how it does and what comes next; exit 1 while it does badly',
  examples: ['svc release status', 'svc release status --json'],
  async run(context) {
    const project = context.project();
    const open = openRelease(project) ?? listReleases(project).at(-1);
    if (open === undefined) {
      context.print.json(null);
      context.print.text('no release yet: svc release begin --to COMMIT');
      return EXIT.ok;
    }
    const pending = readSwitch(project); // then the database may be away, and the last verdict stands
    const caller = { project, context };
    const isCut = pending === undefined && (await isRollbackCut(caller, open));
    const keeps = otherUser(project) === undefined; // anybody may look
    const record = pending === undefined && !isCut ? await steps.judged({ caller, record: open }, keeps) : open;
    tell(context, record, { pending, isRollbackCut: isCut });
    return record.verdict?.verdict === 'bad' && !isEnded(record) ? EXIT.failed : EXIT.ok;
  },
};

const history: Command = {
  noun: 'release',
  verb: 'history',
  summary: 'Lists releases with what they brought and how they ended',
  examples: ['svc release history', 'svc release history --json'],
  async run({ print, json, project }) {
    const all = listReleases(project());
    if (json) print.json({ releases: all });
    else if (all.length === 0) print.text('no release yet: svc release begin --to COMMIT');
    else
      print.table(
        ['name', 'state', 'since', 'source', 'restore point'],
        all.map(({ name, state, steps: done, source, restorePoint }) => [
          name,
          state,
          done.at(-1)?.at ?? '-',
          shown(source.value),
          restorePoint,
        ]),
      );
    return EXIT.ok;
  },
};

export const commands: Command[] = [begin, check, start, accept, observe, finish, rollback, status, history];

interface Asked {
  readonly context: CommandContext;
  readonly options: Options;
}

/** Steps that may find their release ended. */
const ENDS: ReadonlySet<ReleaseCommand> = new Set(['finish', 'rollback']);

/** A command that does the next step of the open release, or says why not. */
function step(
  verb: ReleaseCommand,
  { summary, options = [] }: Pick<Command, 'summary' | 'options'>,
  work: (of: steps.Step, asked: Asked) => Promise<ReleaseRecord>,
): Command {
  return {
    noun: 'release',
    verb,
    summary,
    options,
    examples: [`svc release ${verb}`],
    writesState: true,
    async run(context, _args, given) {
      const project = context.project();
      const caller = { project, context };
      const say = (line: string): void => context.print.text(line);
      const words = ['release', verb, ...wordsFrom(given)];
      const pending = pendingFor(project, verb);
      if (pending !== undefined) {
        const { cli } = await finishCut(project);
        say('the exchange of code that was cut is finished');
        // It was agreed to a rollback before it was decided.
        const agreed = pending.purpose === 'rollback' && given['yes'] !== true ? ['--yes'] : [];
        if (cli !== undefined) return runAs(cli, [...words, ...agreed], { project, context });
      }
      const open = openRelease(project) ?? (ENDS.has(verb) ? listReleases(project).at(-1) : undefined);
      if (open === undefined)
        throw new SvcError('not_found', 'no release is under way', { hint: 'svc release begin --to COMMIT' });
      if (verb !== 'rollback' && (await isRollbackCut(caller, open)))
        throw new SvcError('refused', `${open.name} is being rolled back: code and data of before are there`, {
          hint: 'svc release rollback goes on',
        });
      if (verb === 'rollback') await ensureFormer({ caller, record: open, say });
      const former = verb === 'rollback' ? formerCli(project, open.name) : undefined;
      if (former !== undefined) {
        await notePause(caller, open);
        return runAs(former, words, { project, context });
      }
      const record = verb === 'finish' ? await steps.judged({ caller, record: open }) : open;
      const found = next(record, verb, { now: Date.now(), isForced: given['unclear'] === true });
      if (found.kind === 'refused') throw new SvcError('refused', found.reason, { hint: found.hint });
      if (found.kind === 'done') {
        // A kill behind the record left ingress paused, or trees that are not needed any more.
        if (verb === 'observe' && record.state === 'observing') await openAgain({ caller, say }, record);
        if (verb === 'finish') await steps.removeReplaced({ caller, record, say }, previousTree(project, record.name));
        if (verb === 'rollback') await removeTrees({ caller, record, say });
        return tell(context, record);
      }
      return tell(context, await work({ caller, record, actor: actorHere(), say }, { context, options: given }));
    },
  };
}

const isImage = ({ source }: Pick<ReleaseRecord, 'source'>): boolean => source.kind === 'image';

/** Whether a rollback was cut behind its switch: code and data are of before, and the record does not say so yet. */
async function isRollbackCut(caller: SvcCaller, record: ReleaseRecord): Promise<boolean> {
  if (isEnded(record)) return false;
  if (isImage(record)) return isTakenBack(caller, record);
  const { project } = caller;
  return existsSync(failedTree(project, record.name)) && !existsSync(previousTree(project, record.name));
}

/** What was taken back before is not agreed to once more. */
const takesDataBack = async ({ caller, record }: steps.Step): Promise<boolean> =>
  !(await isRollbackCut(caller, record));

/** The options of `start` and `rollback`, as they were given. */
const wordsFrom = (given: Options): readonly string[] =>
  ['stay', 'yes'].flatMap((name) => (given[name] === true ? [`--${name}`] : []));

/** What came in during the window goes with a rollback, so a person agrees to it. */
async function agreeToLoss(context: CommandContext, record: ReleaseRecord, yes: boolean): Promise<void> {
  if (yes || record.state === 'begun' || record.state === 'checked') return;
  const project = context.project();
  const request = {
    project,
    environment: context.env,
    name: record.restorePoint,
    carry: true,
    open: 'handle',
  } as const;
  // What stays as it is after a restore, and the pause behind one, are not so here.
  const plan = await readRestorePlan(request);
  if (record.state !== 'observing' && !losesWork(plan)) return;
  for (const line of planLines(plan, Date.now())) if (!/^(?:now|THEN) /u.test(line)) context.print.text(line);
  context.print.text('THEN         code, lockfile and configuration of before start, ingress as it was');
  if (!context.interactive || context.json)
    throw new SvcError('usage', 'work of the window is lost by a rollback: --yes agrees to it', {
      hint: `svc checkpoint restore ${record.restorePoint} --dry-run prints what is lost`,
    });
  const { text } = await import('@clack/prompts');
  if ((await text({ message: `Type ${record.name} to roll it back` })) === record.name) return;
  throw new SvcError('refused', 'nothing was changed', { hint: 'svc release status' });
}

function actorHere(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli'; // a user without a name
  }
}

interface Cut {
  /** An exchange of its code that was cut. */
  readonly pending?: Switch | undefined;
  readonly isRollbackCut?: boolean;
}

function tell(
  { print, json }: CommandContext,
  record: ReleaseRecord,
  { pending, isRollbackCut = false }: Cut = {},
): ExitCode {
  if (pending !== undefined)
    print.note(`a ${pending.purpose} is decided and not finished: ${commandOf(pending.purpose)}`);
  if (json) {
    print.json(record);
    return EXIT.ok;
  }
  const { name, state, source, restorePoint, windowUntil, verdict } = record;
  print.text(`${print.color.bold(name)} ${state}, to ${shown(source.value)}, restore point ${restorePoint}`);
  if (windowUntil !== null && !isEnded(record)) print.text(`window until ${windowUntil}`);
  if (verdict !== null) print.text(`${verdict.verdict}: ${shown(verdict.signal)}`);
  const isBack = state === 'rolled_back' || isRollbackCut;
  const taken = isBack && record.rollback !== undefined ? takenBackText(record.rollback) : undefined;
  if (taken !== undefined) print.text(taken);
  const goesOn = isRollbackCut ? 'rollback' : commandAfter(state);
  const command = pending === undefined ? goesOn : undefined;
  if (command !== undefined) print.text(print.color.dim(`next: svc release ${command}`));
  return EXIT.ok;
}
