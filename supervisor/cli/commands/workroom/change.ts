// `svc workroom do|member|board`: commands to the board, under the name of the host's token.
import { randomUUID } from 'node:crypto';
import type { WorkAccepted, WorkBoards, WorkErased, WorkMembers } from '../../../../shared/api/workroom.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../../command.ts';
import { parseDuration } from '../../duration.ts';
import { textArgument, textOption } from '../../options.ts';
import { shown } from '../../output/printable.ts';

type Keys = Readonly<Record<string, unknown>>;

const KINDS = [
  'new',
  'edit',
  'comment',
  'assign',
  'drop',
  'accept',
  'reject',
  'cancel',
  'reopen',
  'due',
  'block',
  'unblock',
  'approve',
  'deny',
  'answer',
];

const doIt: Command = {
  noun: 'workroom',
  verb: 'do',
  args: '<command> <target>',
  summary: 'Carries out a command on an item; `new` takes a board',
  options: [
    { flags: '--title <text>', description: 'Of new and edit' },
    { flags: '--text <text>', description: 'Of new, edit, comment, reject, cancel, approve, deny, answer' },
    { flags: '--member <member>', description: 'Of assign' },
    { flags: '--kind <kind>', description: 'Of block: dependency, approval, external, human_input' },
    { flags: '--reason <text>', description: 'Of block' },
    { flags: '--needs <item>', description: 'Of block: the item that is waited for' },
    { flags: '--by <member>', description: 'Of block: who is to end it' },
    { flags: '--until <when>', description: 'Of block and due: 2d, or a time like 2027-01-31T12:00Z; none' },
    { flags: '--blocker <id>', description: 'Of unblock, approve, deny, answer: b1' },
    { flags: '--if-version <n>', description: 'Only while the item has this version' },
  ],
  examples: [
    'svc workroom do new web --title "Renew the certificate"',
    'svc workroom do assign web-7 --member ann',
    'svc workroom do block web-7 --kind dependency --needs web-3 --reason "after the page"',
  ],
  async run(context, [kind, target], options) {
    const name = textArgument(kind, '<command>');
    if (!KINDS.includes(name))
      throw new SvcError('usage', `there is no command ${name}`, {
        hint: `Known: ${KINDS.join(', ')}. Members take, start and submit in their own name, in chat.`,
      });
    const place = textArgument(target, '<target>');
    const until = textOption(options, 'until');
    const keys: Keys = {
      [name === 'new' ? 'board' : 'item']: place,
      title: textOption(options, 'title'),
      text: textOption(options, 'text'),
      member: textOption(options, 'member'),
      reason: textOption(options, 'reason'),
      needs: textOption(options, 'needs'),
      by: textOption(options, 'by'),
      blocker: name === 'block' ? textOption(options, 'kind') : textOption(options, 'blocker'),
      ...(until === undefined ? {} : { [name === 'due' ? 'due' : 'until']: timeOf(until) }),
    };
    const accepted = await send(context, { kind: name, ...keys }, textOption(options, 'ifVersion'));
    if (context.json) context.print.json(accepted);
    else
      context.print.text(`${shown(accepted.item ?? place)} is ${shown(accepted.state)}, version ${accepted.version}`);
    return EXIT.ok;
  },
};

const member: Command = {
  noun: 'workroom',
  verb: 'member',
  args: '<action> [member]',
  summary: 'list, add, code, link, unlink, remove: the people and agents of the team',
  options: [
    { flags: '--account <endpoint=user>', description: 'Of add, link and unlink: irc~libera=ann' },
    { flags: '--binding <name>', description: 'Of add: the member is an agent' },
  ],
  examples: [
    'svc workroom member add ann',
    'svc workroom member link ann --account irc~libera=ann',
    'svc workroom member list',
  ],
  async run(context, [action, id], options) {
    const { print, json } = context;
    const what = textArgument(action, '<action>');
    if (what === 'list') {
      const { members } = (await (await context.host()).request('GET', '/api/workroom/members')).body as WorkMembers;
      if (json) print.json({ members });
      else
        print.table(
          ['member', 'kind', 'accounts'],
          members
            .filter(({ removed }) => !removed)
            .map(({ id: name, kind, accounts }) => [
              shown(name),
              kind,
              accounts.map(({ endpoint, user }) => `${shown(endpoint)}=${shown(user ?? '(erased)')}`).join(', '),
            ]),
        );
      return EXIT.ok;
    }
    const name = textArgument(id, '<member>');
    const account = accountOf(textOption(options, 'account'));
    switch (what) {
      case 'add': {
        const binding = textOption(options, 'binding');
        await send(context, { kind: 'member.add', member: name, binding });
        if (account !== undefined) await send(context, { kind: 'member.link', member: name, ...account });
        if (account !== undefined || binding !== undefined) return done(context, `${name} is a member`);
        return code(context, name);
      }
      case 'code':
        return code(context, name);
      case 'link':
      case 'unlink':
        if (account === undefined) throw new SvcError('usage', '--account is missing: --account irc~libera=ann');
        await send(context, { kind: `member.${what}`, member: name, ...account });
        return done(context, `${name}: account ${what}ed`);
      case 'remove':
        await send(context, { kind: 'member.remove', member: name });
        return done(context, `${name} is no member any more`);
      default:
        throw unknownAction(what, 'list, add, code, link, unlink, remove');
    }
  },
};

const board: Command = {
  noun: 'workroom',
  verb: 'board',
  args: '<action> [board]',
  summary: 'list, add, change, archive, grant, revoke, bind, unbind: boards, their roles and conversations',
  options: [
    { flags: '--name <text>', description: 'Of add and change' },
    { flags: '--no-review', description: 'Of add and change: what is submitted is done' },
    {
      flags: '--role <member=role>',
      description: 'Of add, grant and revoke: owner, worker or reviewer; several with commas',
    },
    { flags: '--conversation <endpoint:id>', description: 'Of add, bind and unbind: irc~libera:#web' },
  ],
  examples: [
    'svc workroom board add web --name "Web site" --role ann=owner,bob=worker --conversation irc~libera:#web',
    'svc workroom board grant web --role eve=reviewer',
  ],
  async run(context, [action, id], options) {
    const { print, json } = context;
    const what = textArgument(action, '<action>');
    if (what === 'list') {
      const { boards } = (await (await context.host()).request('GET', '/api/workroom/boards')).body as WorkBoards;
      if (json) print.json({ boards });
      else
        print.table(
          ['board', 'name', 'roles', 'conversations'],
          boards.map(({ id: name, name: title, roles = {}, conversations = [], archived }) => [
            `${shown(name)}${archived ? ' (archived)' : ''}`,
            shown(title ?? ''),
            Object.entries(roles)
              .flatMap(([who, held]) => held.map((role) => `${shown(who)}=${role}`))
              .join(', '),
            conversations.map(({ endpoint, conversation }) => `${shown(endpoint)}:${shown(conversation)}`).join(', '),
          ]),
        );
      return EXIT.ok;
    }
    const name = textArgument(id, '<board>');
    const roles = rolesOf(textOption(options, 'role'));
    const place = conversationOf(textOption(options, 'conversation'));
    const review = options['review'] === false ? false : undefined;
    const each = async (kind: string): Promise<void> => {
      for (const role of roles) await send(context, { kind, board: name, ...role });
    };
    switch (what) {
      case 'add':
        await send(context, { kind: 'board.add', board: name, name: textOption(options, 'name') ?? name, review });
        await each('role.grant');
        if (place !== undefined) await send(context, { kind: 'conversation.bind', board: name, ...place });
        return done(context, `board ${name} is there`);
      case 'change':
        await send(context, { kind: 'board.change', board: name, name: textOption(options, 'name'), review });
        return done(context, `board ${name} is changed`);
      case 'archive':
        await send(context, { kind: 'board.archive', board: name });
        return done(context, `board ${name} is archived`);
      case 'grant':
      case 'revoke':
        if (roles.length === 0) throw new SvcError('usage', '--role is missing: --role ann=owner');
        await each(`role.${what}`);
        return done(context, `board ${name}: ${roles.length} roles`);
      case 'bind':
      case 'unbind':
        if (place === undefined)
          throw new SvcError('usage', '--conversation is missing: --conversation irc~libera:#web');
        await send(context, { kind: `conversation.${what}`, board: name, ...place });
        return done(context, `board ${name}: conversation ${what === 'bind' ? 'bound' : 'unbound'}`);
      default:
        throw unknownAction(what, 'list, add, change, archive, grant, revoke, bind, unbind');
    }
  },
};

const release: Command = {
  noun: 'workroom',
  verb: 'release',
  args: '<stream>',
  summary: 'Takes a stream with a damaged event into use again, as it is shown now',
  options: [{ flags: '--reason <text>', description: 'Why; kept in the journal' }],
  examples: ['svc workroom release item/web-7 --reason "compared with the backup of Monday"'],
  async run(context, [stream], options) {
    const name = textArgument(stream, '<stream>');
    const reason = textOption(options, 'reason');
    if (reason === undefined) throw new SvcError('usage', '--reason is missing');
    await send(context, { kind: 'release', stream: name, reason });
    return done(context, `${name} takes commands again`);
  },
};

const erase: Command = {
  noun: 'workroom',
  verb: 'erase',
  args: '[item]',
  summary: 'Erases the words of an item, or of a member, for good; the journal still verifies',
  options: [{ flags: '--member <member>', description: 'What this member wrote, and the ids of their accounts' }],
  examples: ['svc workroom erase web-7', 'svc workroom erase --member bob'],
  async run({ host, print, json }, [item], options) {
    const name = textOption(options, 'member');
    if ((item === undefined) === (name === undefined))
      throw new SvcError('usage', 'name an item, or a member with --member');
    const body = name === undefined ? { item: textArgument(item, '<item>') } : { member: name };
    const answer = await (await host()).request('POST', '/api/workroom/erase', { body, idempotencyKey: randomUUID() });
    const { streams, events } = answer.body as WorkErased;
    if (json) print.json({ streams, events });
    else if (events === 0) print.text('there were no words to erase');
    else print.text(`the words of ${events} events in ${streams} streams are erased; backups and exports keep theirs`);
    return EXIT.ok;
  },
};

export const commands: Command[] = [doIt, member, board, release, erase];

async function send({ host }: CommandContext, command: Keys, ifVersion?: string): Promise<WorkAccepted> {
  const { body } = await (await host()).request('POST', '/api/workroom/commands', {
    body: command,
    idempotencyKey: randomUUID(),
    ...(ifVersion === undefined ? {} : { headers: { 'if-match': `"${ifVersion}"` } }),
  });
  return body as WorkAccepted;
}

async function code(context: CommandContext, name: string): Promise<typeof EXIT.ok> {
  const path = `/api/workroom/members/${encodeURIComponent(name)}/code`;
  const { body } = await (await context.host()).request('POST', path, { body: {} });
  const { code: text } = body as { readonly code: string };
  if (context.json) context.print.json({ member: name, code: text });
  else context.print.text(`${name} types within an hour, in a chat with the bot:  /work join ${text}`);
  return EXIT.ok;
}

function done({ print, json }: CommandContext, text: string): typeof EXIT.ok {
  if (json) print.json({ ok: true });
  else print.text(text);
  return EXIT.ok;
}

const unknownAction = (what: string, known: string): SvcError =>
  new SvcError('usage', `there is no ${what} here`, { hint: `Known: ${known}.` });

/** `irc~libera=ann`: the last `=` parts the two. */
function accountOf(text: string | undefined): { readonly endpoint: string; readonly user: string } | undefined {
  if (text === undefined) return undefined;
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1)
    throw new SvcError('usage', '--account takes <endpoint>=<user>: irc~libera=ann');
  return { endpoint: text.slice(0, at), user: text.slice(at + 1) };
}

/** `irc~libera:#web`; a full endpoint name has one colon more, `root/irc:irc~libera:#web`. */
function conversationOf(
  text: string | undefined,
): { readonly endpoint: string; readonly conversation: string } | undefined {
  if (text === undefined) return undefined;
  const [, endpoint = '', conversation = ''] = /^((?:[^:/]+\/[^:]*:)?[^:]+):(.+)$/.exec(text) ?? [];
  if (conversation === '') throw new SvcError('usage', '--conversation takes <endpoint>:<id>: irc~libera:#web');
  return { endpoint, conversation };
}

function rolesOf(text: string | undefined): readonly { readonly member: string; readonly role: string }[] {
  if (text === undefined) return [];
  return text.split(',').map((pair) => {
    const [who = '', role = ''] = pair.trim().split('=');
    if (who === '' || role === '') throw new SvcError('usage', '--role takes <member>=<role>: ann=owner');
    return { member: who, role };
  });
}

/** Epoch milliseconds of a duration from now, or of a time. Null for none. */
function timeOf(text: string): number | null {
  if (text === 'none') return null;
  if (/^\d{4}-/.test(text)) {
    const at = Date.parse(text);
    if (Number.isNaN(at)) throw new SvcError('usage', '--until takes 2d, or a time like 2027-01-31T12:00Z');
    return at;
  }
  return Date.now() + parseDuration('--until', text);
}
