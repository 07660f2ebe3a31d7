// How items look in a chat: a card with its blockers, a line of a list, and which buttons fit. Pure.
import { md, type Rich, showDuration, type WorkBlocker, type WorkItem } from '../../sdk/index.ts';

export interface Pressable {
  readonly label: string;
  /** Kind of the command. */
  readonly act: string;
  readonly style?: 'primary' | 'danger';
}

const titleOf = ({ title }: WorkItem): string => title ?? '(erased)';

export const lineOf = (item: WorkItem): string =>
  [
    `${item.id}  ${titleOf(item)}`,
    item.state,
    ...(item.assignee === undefined ? [] : [item.assignee]),
    ...(item.state === 'blocked' ? [item.blockers.map(({ kind }) => kind).join(', ')] : []),
  ].join(' · ');

export function cardOf(item: WorkItem, now: number): Rich {
  const facts = [item.state, ...(item.assignee === undefined ? [] : [item.assignee])];
  if (item.due !== undefined) facts.push(`due ${dayOf(item.due)}${item.due <= now ? ' (overdue)' : ''}`);
  const last = item.comments.at(-1);
  const lines = [
    ...(item.text === undefined ? [] : [item.text]),
    ...item.blockers.map((blocker) => blockerLine(blocker, now)),
    ...(last?.text === undefined ? [] : [`${last.by.replace(/^member:/, '')}: ${last.text}`]),
  ];
  const more = lines.length === 0 ? '' : `\n${lines.join('\n')}`;
  return md`**${item.id}** ${titleOf(item)} (${facts.join(', ')})${more}`;
}

function blockerLine({ id, kind, owner, reason, needs, due, since }: WorkBlocker, now: number): string {
  const parts = [
    `${id} ${kind}${needs === undefined ? '' : ` needs ${needs}`}${owner === undefined ? '' : ` by ${owner}`}`,
    ...(due === undefined ? [] : [`until ${dayOf(due)}${due <= now ? ' (overdue)' : ''}`]),
    `for ${showDuration(Math.floor((now - since) / 60_000) * 60_000)}`,
  ];
  return `⛔ ${parts.join(', ')}: ${reason ?? '(erased)'}`;
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');

/** What the next person can do with one press. Whether they may is decided when they press. */
export function buttonsOf({ state, blockers }: WorkItem): readonly Pressable[] {
  switch (state) {
    case 'open':
      return [{ label: 'Take', act: 'take', style: 'primary' }];
    case 'assigned':
      return [
        { label: 'Start', act: 'start', style: 'primary' },
        { label: 'Drop', act: 'drop' },
      ];
    case 'active':
      return [{ label: 'Submit', act: 'submit', style: 'primary' }];
    case 'review':
      return [
        { label: 'Accept', act: 'accept', style: 'primary' },
        { label: 'Reject', act: 'reject', style: 'danger' },
      ];
    case 'blocked':
      return blockers.some(({ kind }) => kind === 'approval')
        ? [
            { label: 'Approve', act: 'approve', style: 'primary' },
            { label: 'Deny', act: 'deny', style: 'danger' },
          ]
        : [];
    default:
      return [];
  }
}

/** Why a conversation hears of a change; undefined: it does not. */
export function topicOf({ change, state }: { readonly change: string; readonly state: string }): string | undefined {
  switch (change) {
    case 'item.assigned':
      return 'assigned';
    case 'blocker.added':
      return 'blocked';
    case 'blocker.resolved':
      return 'unblocked';
    case 'item.overdue':
      return 'overdue';
    case 'item.stuck':
      return 'stuck';
    case 'item.submitted':
      return state === 'done' ? 'done' : 'review';
    case 'item.accepted':
      return 'done';
    default:
      return undefined;
  }
}
