// `svc chat`: a chat with the bot in the terminal, through the sandbox. Lines may also come from a pipe.
import { createInterface } from 'node:readline';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import type { Command, CommandContext } from '../command.ts';
import { type ChatLine, ChatSession, type ChatSink } from '../connect/chat-session.ts';
import { countOption, textOption } from '../options.ts';
import { printable } from '../output/printable.ts';

const WAIT_MS = 10_000;

export const command: Command = {
  noun: 'chat',
  summary: 'Chats with the bot in this terminal, through the sandbox',
  options: [
    { flags: '--as <name>', description: 'Who is chatting (default: your user name)' },
    {
      flags: '--room <room>',
      description: 'A room instead of the private conversation; speak to the bot as "svc: …" there',
    },
    { flags: '--wait <ms>', description: 'How long a line from a pipe waits for its answers', default: WAIT_MS },
    { flags: '--json', description: 'A JSON document a line on stdout, one for each message' },
  ],
  examples: ['svc chat', 'svc chat --as alice --room lobby', "echo '/ping' | svc chat"],
  run(context, _args, options) {
    return chat(context, process.stdin, {
      person: textOption(options, 'as') ?? context.env['USER'] ?? 'me',
      room: textOption(options, 'room'),
      waitMs: countOption(options, 'wait') ?? WAIT_MS,
    });
  },
};

export interface ChatOptions {
  readonly person: string;
  readonly room: string | undefined;
  readonly waitMs: number;
}

/** Exit code 0 if every line was answered or a person ended the chat, 1 if an answer was late. */
export async function chat(
  context: CommandContext,
  input: NodeJS.ReadableStream,
  { person, room, waitMs }: ChatOptions,
): Promise<ExitCode> {
  const session = new ChatSession(context, { person, room }, sinkOf(context));
  await session.start();
  try {
    if (context.interactive) return await talk(context, session, input);
    return await feed(context, session, { input, waitMs });
  } finally {
    session.stop();
  }
}

/** Interactive: answers are shown as they arrive. */
async function talk(
  { print, signal }: CommandContext,
  session: ChatSession,
  input: NodeJS.ReadableStream,
): Promise<ExitCode> {
  print.note('You are talking to the bot. /help shows what it can do; :1 presses a button; Ctrl-D ends.');
  const lines = createInterface({ input, output: process.stderr, prompt: '> ', terminal: true });
  signal.addEventListener('abort', () => lines.close(), { once: true });
  lines.on('SIGINT', () => lines.close());
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== '')
      await session
        .say(line, WAIT_MS)
        .catch((error: unknown) => print.note(error instanceof Error ? error.message : String(error)));
    lines.prompt();
  }
  return EXIT.ok;
}

/** From a pipe: each line is answered before the next is sent. */
async function feed(
  { print, signal }: CommandContext,
  session: ChatSession,
  { input, waitMs }: { input: NodeJS.ReadableStream; waitMs: number },
): Promise<ExitCode> {
  let unanswered = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (signal.aborted) break;
    if (line.trim() !== '' && !(await session.say(line, waitMs))) unanswered += 1;
  }
  if (unanswered === 0) return EXIT.ok;
  print.note(`${unanswered} of the lines had no complete answer (waited ${waitMs} ms for each)`);
  return EXIT.failed;
}

function sinkOf({ print, json }: CommandContext): ChatSink {
  return {
    note: (text) => print.note(text),
    line(line) {
      if (json) print.line(line);
      else for (const text of linesOf(line, print.color.bold(printable(line.from)))) print.text(text);
    },
  };
}

/** Prefix of the bot's message ids. The bot's text is Markdown; that of people is shown as typed. */
const SENT_BY_BOT = 'sandbox-';
const CODE = /(```[\s\S]*?```|`[^`\n]+`)/;
const ESCAPED = /\\([!-/:-@[-`{-~])/g;

/** Removes Markdown's escaping backslashes, outside of code. */
function withoutEscapes(markdown: string): string {
  return markdown
    .split(CODE)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(ESCAPED, '$1')))
    .join('');
}

function linesOf({ id, text, changed, removed, buttons, reactions }: ChatLine, from: string): readonly string[] {
  const mark = removed ? ' (removed)' : changed ? ' (changed)' : '';
  const body = `${from}${mark}: ${printable(id.startsWith(SENT_BY_BOT) ? withoutEscapes(text) : text)}`;
  const presses = buttons.map(({ label }, index) => `[:${index + 1} ${printable(label)}]`).join(' ');
  return [
    body,
    ...(presses === '' ? [] : [`  ${presses}`]),
    ...(reactions.length === 0 ? [] : [`  ${printable(reactions.join(' '))}`]),
  ];
}
