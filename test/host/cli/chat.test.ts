import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { chat } from '../../../supervisor/cli/commands/chat.ts';
import type { NewEvent } from '../../../worker/events/event-types.ts';
import { type CapturedContext, capturedContext } from '../../support/commands/cli-context.ts';
import { type EventLogFixture, eventLog, serveEvents } from '../../support/hosts/event-log.ts';

interface Said {
  readonly person: string;
  readonly room?: string;
  readonly text?: string;
  readonly token?: string;
}

/** A sandbox behind the chat routes that answers each line as `answer` says, over a real event stream. */
async function sandbox(
  t: TestContext,
  answer: (said: Said) => readonly string[] | 'silent' | 'dead',
  ingress: object = { state: 'open' },
): Promise<{ context: CapturedContext; said: Said[] }> {
  const log = eventLog(t);
  const { server, url } = await serveEvents(t, log);
  const said: Said[] = [];
  const messages: object[] = [];
  const say = (from: string, text: string, buttons: object[] = []): void =>
    void messages.push({
      n: messages.length + 1,
      id: `${from === 'svc' ? 'sandbox-' : 'in-'}${messages.length}`,
      from,
      text,
      at: '',
      buttons,
      removed: false,
      reactions: [],
    });
  say('svc', 'said before');
  const listener = server.listeners('request')[0] as (...args: unknown[]) => void;
  server.removeAllListeners('request');
  const answerChat = async (request: IncomingMessage, response: ServerResponse, target: URL): Promise<unknown> => {
    if (request.method === 'GET') {
      const after = Number(target.searchParams.get('after'));
      return response.end(
        JSON.stringify({
          messages: messages.filter((message) => (message as { n: number }).n > after),
          cursor: messages.length,
          more: false,
          older: false,
        }),
      );
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const line = JSON.parse(Buffer.concat(chunks).toString()) as Said;
    said.push(line);
    const id = `item-${said.length}`;
    say(line.person, line.text ?? 'pressed');
    void handle(log, id, { answers: answer(line), say });
    return response.end(JSON.stringify({ id, duplicate: false }));
  };
  server.on('request', (request, response) => {
    const target = new URL(request.url ?? '/', 'http://x');
    if (target.pathname === '/api/system/ingress') response.end(JSON.stringify(ingress));
    else if (target.pathname.startsWith('/api/chat/')) void answerChat(request, response, target);
    else listener(request, response);
  });
  return { context: capturedContext(url), said };
}

async function handle(
  log: EventLogFixture,
  item: string,
  {
    answers,
    say,
  }: { answers: readonly string[] | 'silent' | 'dead'; say: (from: string, text: string, buttons?: object[]) => void },
): Promise<void> {
  const head = { at: 1, runtimeId: 'r' };
  if (answers === 'silent') return;
  if (answers === 'dead')
    return log.record([
      { ...head, type: 'inbox.dead', data: { item, handler: null, attempts: 5, code: 'handler_failed', reason: 'x' } },
    ]);
  await log.record([
    { ...head, type: 'inbox.done', data: { item, attempts: 1, sends: answers.length, durationMs: 1 } },
  ]);
  for (const text of answers) {
    say('svc', text, text.startsWith('choose') ? [{ label: 'Yes', token: 'tok-1' }] : []);
    const event: NewEvent = {
      ...head,
      type: 'outbox.sent',
      data: { item: 's', kind: 'post', attempts: 1, conversation: 'dm', from: item, platformMessage: null },
    };
    await log.record([event]);
  }
}

describe('svc chat', () => {
  it('sends each line of a pipe and prints its answers in order', async (t) => {
    const { context, said } = await sandbox(t, ({ text }) => [`echo ${text}`, 'and more']);

    const code = await chat(context, Readable.from(['one\n\ntwo\n']), {
      person: 'alice',
      room: undefined,
      waitMs: 5_000,
    });

    assert.equal(code, 0);
    assert.deepEqual(context.out, ['svc: echo one', 'svc: and more', 'svc: echo two', 'svc: and more']);
    assert.deepEqual(
      said.map(({ person, text }) => [person, text]),
      [
        ['alice', 'one'],
        ['alice', 'two'],
      ],
    );
  });

  it('shows what the bot escaped as it is meant, but not inside code', async (t) => {
    const { context } = await sandbox(t, () => ['/help \\[command\\] `a\\[b` 5 \\> 3']);

    await chat(context, Readable.from(['x\n']), { person: 'alice', room: undefined, waitMs: 5_000 });

    assert.deepEqual(context.out, ['svc: /help [command] `a\\[b` 5 > 3']);
  });

  it('shows buttons and presses them', async (t) => {
    const { context, said } = await sandbox(t, ({ text }) => (text === 'menu' ? ['choose one'] : ['pressed it']));

    await chat(context, Readable.from(['menu\n:1\n:9\n']), { person: 'alice', room: 'lobby', waitMs: 5_000 });

    assert.deepEqual(context.out, ['svc: choose one', '  [:1 Yes]', 'svc: pressed it']);
    assert.equal(said[1]?.token, 'tok-1');
    assert.equal(said[1]?.room, 'lobby');
    assert.deepEqual(context.notes, ['there is no button 9']);
  });

  it('says once, where an answer does not come, that ingress is paused and keeps it', async (t) => {
    const { context } = await sandbox(t, () => 'silent', { state: 'paused', mode: 'park', reason: 'a move' });

    const input = Readable.from(['hello?\nhello??\n']);
    const code = await chat(context, input, { person: 'a', room: undefined, waitMs: 60 });

    assert.equal(code, 1);
    assert.deepEqual(context.notes, [
      'ingress is paused (a move): what is said is kept, and handled once `svc ingress resume` opens it',
      '2 of the lines had no complete answer (waited 60 ms for each)',
    ]);
  });

  it('ends with 1 after the wait when an answer does not come, and names a line that died', async (t) => {
    const silent = await sandbox(t, () => 'silent');
    const dead = await sandbox(t, () => 'dead');

    const codes = [
      await chat(silent.context, Readable.from(['hello?\n']), { person: 'a', room: undefined, waitMs: 60 }),
      await chat(dead.context, Readable.from(['boom\n']), { person: 'a', room: undefined, waitMs: 5_000 }),
    ];

    assert.deepEqual(codes, [1, 1]);
    assert.deepEqual(silent.context.notes, ['1 of the lines had no complete answer (waited 60 ms for each)']);
    assert.equal(dead.context.notes[0], 'the line could not be handled: svc inbox show item-1');
  });
});
