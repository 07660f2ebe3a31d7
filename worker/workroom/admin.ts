// The Workroom for operators and clients of HTTP: what is shown, and commands under a token's name.

import type { Verification, WorkItemShown } from '../../shared/api/workroom.ts';
import { uuidv7 } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import type { WorkroomApi } from '../http/api/workroom-api.ts';
import { parseCommand } from './board/commands.ts';
import { endsOf } from './board/decide-blockers.ts';
import { type Actor, type Item, type ItemState, openBlockers, stateOf } from './board/model.ts';
import { type ErasedTarget, erasableOf, erase } from './erase.ts';
import { readCounts } from './figures.ts';
import { makeJoinCode } from './join-codes.ts';
import { canonicalJson, sha256 } from './journal/chain.ts';
import type { JournalSource } from './journal/journal.ts';
import { textsOf } from './journal/journal-event.ts';
import type { JournalPlace } from './open-journal.ts';
import { readHead, readItem, readItemPage, readView } from './read-catalog.ts';
import type { Accepted, Workroom } from './workroom.ts';

/** Of the digest of a command that is part of its id. */
const BODY_DIGITS = 16;

export interface AdminDeps {
  readonly core: Core;
  readonly workroom: Workroom;
  readonly source: JournalSource;
  /** Where files of the journal would lie. */
  readonly place: JournalPlace;
  readonly verify: () => Promise<Verification>;
  readonly lastVerification: () => Verification | undefined;
  /** The full name of an account; a name that is none stays as it is. */
  readonly endpoint: (name: string) => string;
}

export function createWorkroomAdmin(deps: AdminDeps): WorkroomApi {
  const { core, workroom, source, place, verify, lastVerification, endpoint } = deps;
  const { reader } = core;
  return {
    async overview() {
      const counts = await readCounts(reader);
      const { quarantined } = await readView(reader, { kind: 'look' });
      return {
        project: core.projectId,
        store: source.store,
        head: await readHead(reader),
        verified: lastVerification() ?? null,
        boards: counts.map(({ board, states }) => ({ board, states: { ...states } })),
        quarantined: [...quarantined],
      };
    },
    async items({ board, state, assignee, after, limit, texts }) {
      const filter = { board, state: state as ItemState | undefined, assignee: texts ? assignee : undefined };
      const { items, next } = await readItemPage(reader, filter, { after, limit });
      const shown = items.map((item) => shownItem(item, { texts, now: core.clock.now() }));
      return next === undefined ? { items: shown } : { items: shown, next };
    },
    async item(id, texts) {
      const item = await readItem(reader, id);
      if (item === undefined) throw new SvcError('not_found', `there is no item ${id}`);
      return shownItem(item, { texts, now: core.clock.now() });
    },
    async boards(texts) {
      const { boards } = await readView(reader, { kind: 'look' });
      return {
        boards: Object.values(boards).map(({ id, version, review, archived, name, roles, conversations }) => {
          const more = { name: name ?? null, roles: copied(roles), conversations: [...conversations] };
          return { id, version, review, archived, ...(texts ? more : {}) };
        }),
      };
    },
    async members(texts) {
      const { team } = await readView(reader, { kind: 'look' });
      const members = Object.values(team.members).map(({ id, kind, binding, removed, accounts }) => ({
        id,
        kind,
        binding: binding ?? null,
        removed,
        accounts: accounts.map(({ endpoint, user }) => ({ endpoint, user: user ?? null })),
      }));
      return { version: team.version, members: texts ? members : [] };
    },
    async events({ after, limit, stream, raw }) {
      const rows = await source.slice({ after, limit: limit + 1, stream });
      if (raw) return { events: rows.slice(0, limit) };
      const events = rows.slice(0, limit).map((row) => ({
        ...row,
        at: new Date(row.at).toISOString(),
        data: JSON.parse(row.data) as Record<string, unknown>,
        texts: Object.fromEntries(Object.entries(textsOf(row)).map(([field, { text }]) => [field, text])),
      }));
      const last = events.at(-1)?.seq;
      return rows.length > limit && last !== undefined ? { events, next: last } : { events };
    },
    async command(caller, given, { key, ifVersion, keep }) {
      const parsed = parseCommand(given, workroom.settings().maxTextBytes);
      const command = 'endpoint' in parsed ? { ...parsed, endpoint: endpoint(parsed.endpoint) } : parsed;
      // The answer of a key is forgotten after a day, the command id never: another command under that key is another one.
      const id =
        key === undefined
          ? `http/${uuidv7(core.clock.now())}`
          : `http/${caller.actor}/${key}/${sha256(canonicalJson(given)).slice(0, BODY_DIGITS)}`;
      const commanding = { actor: operatorActor(caller.actor), command: { id, cause: null } };
      const more = (accepted: Accepted) => keep(acceptedOf(accepted));
      const outcome = await workroom.do(command, commanding, { ifVersion, more });
      if (outcome.kind === 'accepted') return acceptedOf(outcome);
      if (outcome.code === 'unknown_item' || outcome.code === 'unknown_board')
        throw new SvcError('not_found', outcome.reason);
      throw new SvcError('command_refused', outcome.reason, { details: { reason: outcome.code } });
    },
    async code({ actor }, member) {
      const { team } = await readView(reader, { kind: 'look' });
      const found = team.members[member];
      if (found === undefined || found.removed) throw new SvcError('not_found', `there is no member ${member}`);
      if (found.kind === 'agent') throw new SvcError('conflict', `${member} is an agent: it joins by its binding`);
      return { code: await makeJoinCode(core, member, actor) };
    },
    async erase({ actor }, { item, member }) {
      const target = erasedTarget(item, member);
      const command = { id: `erase/${uuidv7(core.clock.now())}`, cause: null };
      const journal = erasableOf(source, { ...place, core });
      return erase({ core, workroom, journal, actor: operatorActor(actor), command }, target);
    },
    verify,
  };
}

function erasedTarget(item: string | undefined, member: string | undefined): ErasedTarget {
  if (item !== undefined && member === undefined) return { item };
  if (member !== undefined && item === undefined) return { member };
  throw new SvcError('invalid_request', 'expected one of the keys item and member');
}

/** A full token owns every board, and is a person under its own name. */
const operatorActor = (actor: string): Actor => ({ id: actor, member: undefined, isOperator: true });

const acceptedOf = ({ stream, item, version, state }: Accepted) => ({
  stream,
  item: item ?? null,
  version,
  state: state ?? null,
});

const copied = (roles: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(roles).map(([member, list]) => [member, [...list]]));

function shownItem(item: Item, { texts, now }: { readonly texts: boolean; readonly now: number }): WorkItemShown {
  const blockers = openBlockers(item).map(({ id, kind, needs, due, since, owner, by, reason }) => ({
    id,
    kind,
    needs: needs ?? null,
    due: timeOf(due),
    overdue: due !== undefined && due <= now,
    since: new Date(since).toISOString(),
    actions: [...endsOf(kind)],
    ...(texts ? { owner: owner ?? null, by, reason: reason ?? null } : {}),
  }));
  const words = {
    title: item.title ?? null,
    text: item.text ?? null,
    assignee: item.assignee ?? null,
    creator: item.creator,
    comments: item.comments.map(({ by, at, text }) => ({ by, at: new Date(at).toISOString(), text: text ?? null })),
  };
  return {
    id: item.id,
    board: item.board,
    version: item.version,
    status: item.status,
    state: stateOf(item),
    due: timeOf(item.due),
    overdue: item.due !== undefined && item.due <= now && !['done', 'cancelled'].includes(item.status),
    createdAt: new Date(item.createdAt).toISOString(),
    changedAt: new Date(item.touchedAt).toISOString(),
    blockers,
    ...(texts ? words : {}),
  };
}

const timeOf = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());
