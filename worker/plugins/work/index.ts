// work: the board of a Workroom in a chat. Commands are typed or pressed; what happens on a board is told to the conversations bound to it.
import {
  type ChatCtx,
  type Content,
  type ConversationRef,
  type Ctx,
  definePlugin,
  type MessageRef,
  type Parts,
  type Rich,
  t,
  userError,
  type WorkCommand,
  type WorkItem,
  workItemChanged,
} from '../../sdk/index.ts';
import { buttonsOf, cardOf, lineOf, topicOf } from './cards.ts';
import { readLine, USAGE } from './typed.ts';

interface Shown {
  readonly message: MessageRef;
  readonly item: string;
}
type WorkCtx = ChatCtx & Pick<Parts, 'workroom'>;
const TOPICS = ['assigned', 'blocked', 'unblocked', 'review', 'done', 'overdue', 'stuck'] as const;
/** Cards that a conversation remembers. A reply to an older one names the item. */
const MOST_CARDS = 100;
const STATES = ['open', 'assigned', 'active', 'blocked', 'review', 'done', 'cancelled'];

export const work = definePlugin({
  name: 'work',
  uses: ['workroom'],
  config: {
    tell: t.array(t.enum(TOPICS), {
      default: ['blocked', 'unblocked', 'review', 'done', 'overdue', 'stuck'],
      description: 'What the conversations of a board hear',
    }),
  },
  setup(p) {
    const shown = p.state('cards', {
      scope: 'conversation',
      value: t.array(t.object({ message: t.string(), item: t.string() })),
    });
    const press = p.action('do', { data: { act: t.string(), item: t.string() } }, (ctx, { act, item }) =>
      carryOut(ctx, { kind: act, item }),
    );
    const card = (item: WorkItem, now: number): Content => ({
      text: cardOf(item, now),
      buttons: buttonsOf(item).map(({ label, act, style }) => press.button(label, { act, item: item.id }, style)),
    });

    /** Notes which message shows which item, so that a reply to it may leave the id out. */
    const note = async (ctx: Ctx, at: ConversationRef, { message, item }: Shown): Promise<void> => {
      if (!('sent' in message)) return;
      const cards = cardsOf(at);
      const others = (await ctx.get(cards)) ?? [];
      ctx.set(cards, [...others, { message: message.sent, item }].slice(-MOST_CARDS));
    };
    /** Threads of a conversation share its cards. */
    const cardsOf = ({ endpoint, id }: ConversationRef) => shown.of({ endpoint, id });
    const repliedCard = async (ctx: WorkCtx): Promise<string | undefined> => {
      const message = await ctx.repliedTo();
      if (message === undefined || !('sent' in message)) return undefined;
      const cards = (await ctx.get(cardsOf(ctx.conversation))) ?? [];
      return cards.find((one) => one.message === message.sent)?.item;
    };
    const reply = async (ctx: WorkCtx, item: WorkItem): Promise<undefined> => {
      await note(ctx, ctx.conversation, { message: ctx.reply(card(item, ctx.now())), item: item.id });
      return undefined;
    };

    /** Runs a command, and shows what became of the item. */
    const carryOut = async (ctx: WorkCtx, command: WorkCommand): Promise<Content | undefined> => {
      const outcome = await ctx.workroom.do(command);
      if (outcome.kind === 'refused') throw userError(await refusalText(ctx, outcome));
      const item = outcome.item === undefined ? undefined : await ctx.workroom.item(outcome.item);
      return item === undefined ? { text: 'Done.' } : reply(ctx, item);
    };

    p.command(
      'work',
      {
        summary: "The team's board: lists, shows and changes items",
        args: { what: t.optional(t.rest()) },
        examples: [
          '/work',
          '/work new Renew the certificate',
          '/work take 7',
          '/work block 7 external until 2d waiting for DNS',
        ],
      },
      async (ctx, { what = '' }) => {
        const board = await ctx.workroom.board();
        const asked = readLine(what, { board: board?.id, card: await repliedCard(ctx), now: ctx.now() });
        switch (asked.kind) {
          case 'fault':
            throw userError(asked.text);
          case 'list':
            return list(ctx, asked.filter, board?.id);
          case 'show': {
            const item = await ctx.workroom.item(asked.item);
            const isShown = item !== undefined && (await shownBoards(ctx)).includes(item.board);
            if (!isShown) throw userError(`There is no item ${asked.item} for you here.`);
            return reply(ctx, item);
          }
          case 'join': {
            const outcome = await ctx.workroom.join(asked.code);
            if (outcome.kind === 'refused') throw userError(sentence(outcome.reason));
            return `Welcome, ${(await ctx.workroom.me())?.id ?? 'friend'}. /work shows the board.`;
          }
          case 'command':
            return carryOut(ctx, asked.command);
        }
      },
    );

    p.subscribe(workItemChanged, async (ctx, changed) => {
      const topic = topicOf(changed);
      if (topic === undefined || !p.config.tell.some((told) => told === topic)) return;
      const item = await ctx.workroom.item(changed.item);
      const board = (await ctx.workroom.boards()).find(({ id }) => id === changed.board);
      if (item === undefined || board === undefined) return;
      for (const { endpoint, conversation } of board.conversations) {
        const { buttons = [], text = '' } = card(item, ctx.now());
        const to = { endpoint, id: conversation };
        await note(ctx, to, { message: ctx.send(to, { text: headed(topic, text), buttons }), item: item.id });
      }
    });
  },
});

const HEADS: Readonly<Record<string, string>> = {
  assigned: 'Assigned',
  blocked: 'Blocked',
  unblocked: 'Goes on',
  review: 'To review',
  done: 'Done',
  overdue: 'Overdue',
  stuck: 'Stuck',
};

function headed(topic: string, text: string | Rich): string | Rich {
  const head = { kind: 'text', text: `${HEADS[topic] ?? topic}: ` } as const;
  return typeof text === 'object' ? { segments: [head, ...text.segments] } : `${head.text}${text}`;
}

async function list(ctx: WorkCtx, filter: string, board: string | undefined): Promise<string> {
  if (filter !== 'all' && filter !== 'mine' && !STATES.includes(filter))
    throw userError(`Usage: /work ${USAGE['list']}`);
  const me = filter === 'mine' ? await ctx.workroom.me() : undefined;
  if (filter === 'mine' && me === undefined) throw userError(NO_MEMBER);
  const wanted = {
    ...(me === undefined ? {} : { assignee: me.id }),
    ...(STATES.includes(filter) ? { state: filter as WorkItem['state'] } : {}),
  };
  const items: WorkItem[] = [];
  for (const one of board === undefined ? await shownBoards(ctx) : [board])
    items.push(...(await ctx.workroom.list({ ...wanted, board: one })));
  return items.length === 0 ? 'Nothing here.' : items.map(lineOf).join('\n');
}

/** Boards that may be shown: the one of this conversation, and those on which the person who wrote has a role. */
async function shownBoards(ctx: WorkCtx): Promise<readonly string[]> {
  const [here, me, boards] = [await ctx.workroom.board(), await ctx.workroom.me(), await ctx.workroom.boards()];
  return boards
    .filter(({ id, roles }) => id === here?.id || (me !== undefined && (roles[me.id] ?? []).length > 0))
    .map(({ id }) => id);
}

const NO_MEMBER =
  'This account belongs to no member: an operator makes a code (svc workroom member code <member>), then type /work join <code>.';

/** A stranger is told how to become a member. */
async function refusalText(
  ctx: WorkCtx,
  { code, reason }: { readonly code: string; readonly reason: string },
): Promise<string> {
  const isStranger = code === 'not_allowed' && (await ctx.workroom.me()) === undefined;
  return isStranger ? `${sentence(reason)} ${NO_MEMBER}` : sentence(reason);
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
