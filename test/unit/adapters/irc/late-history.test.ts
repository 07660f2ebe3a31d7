// What a server answers about the past after we had given it up, and asked again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IrcLine } from 'irc-framework';
import { History } from '../../../../worker/adapters/irc/history.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';
import { ircAccount } from '../../../support/irc/irc-account.ts';

describe('an IRC history that the server could not read for now', () => {
  it('is asked for again while the connection stands, and is behind until it has come', () => {
    const past = behind({ channels: ['#room'] });

    past.line('FAIL', ['CHATHISTORY', 'MESSAGE_ERROR', 'AFTER', '#room', 'not now']);
    past.line('FAIL', ['CHATHISTORY', 'MESSAGE_ERROR', 'TARGETS', 'not now']);
    const before = past.isBehind();
    past.tick();
    past.page('b1', '#room', ['missed']);
    past.targets('b2', []);

    assert.match(past.troubles[0] ?? '', /could not read it for now/);
    assert.deepEqual(
      [before, past.isBehind(), past.troubles.slice(1), past.texts],
      [true, false, [undefined], ['missed']],
    );
    assert.deepEqual(
      past.asked.map((line) =>
        line
          .split(' ', 3)
          .join(' ')
          .replace(/ timestamp=.*/, ''),
      ),
      ['CHATHISTORY AFTER #room', 'CHATHISTORY TARGETS', 'CHATHISTORY AFTER #room', 'CHATHISTORY TARGETS'],
    );
  });
});

describe('late answers of an IRC history', () => {
  it('leave nobody out who wrote in private, while no question is under way', () => {
    const past = behind();
    past.tick(); // who wrote was not answered

    past.targets('b1', ['bob']);
    past.tick(); // asked again
    past.targets('b2', ['bob']);
    const isAsked = past.asked.some((line) => line.startsWith('CHATHISTORY AFTER bob '));
    const before = past.isBehind();
    past.page('b3', 'bob', ['in private']);

    assert.deepEqual([isAsked, before, past.isBehind(), past.texts], [true, true, false, ['in private']]);
  });

  it('leave nobody out who wrote in private, where the rest comes once it is asked again', () => {
    const past = behind();

    past.line('BATCH', ['+b1', 'draft/chathistory-targets']);
    past.tick();
    past.target('b1', 'bob');
    past.tick();
    past.line('BATCH', ['-b1']);
    assert.ok(past.isBehind(), 'what began before is no answer to what is asked now');
    past.targets('b2', ['bob']);
    past.page('b3', 'bob', ['in private']);

    assert.deepEqual([past.isBehind(), past.texts], [false, ['in private']]);
  });

  it('are not taken for the page behind them', () => {
    const past = behind({ channels: ['#room'], most: 2 });
    past.tick();
    past.tick();

    past.page('b1', '#room', ['one', 'two']);
    past.page('b2', '#room', ['one', 'two']);
    past.page('b3', '#room', ['three']);
    past.targets('b4', []);

    assert.deepEqual(past.troubles.slice(1), [undefined], 'nothing is told as lost');
    assert.deepEqual([past.isBehind(), [...new Set(past.texts)]], [false, ['one', 'two', 'three']]);
  });
});

/** An account that was away for a minute, and has asked. */
function behind({ channels = [], most = 100 }: { readonly channels?: readonly string[]; readonly most?: number } = {}) {
  const asked: string[] = [];
  const texts: string[] = [];
  const troubles: (string | undefined)[] = [];
  const timers: (() => void)[] = [];
  const time = new Date(Date.now() - 30_000).toISOString();
  const history = new History({
    account: ircAccount(1),
    cursor: new Date(Date.now() - 60_000).toISOString(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    limitMs: 1,
    lower: (text) => text.toLowerCase(),
    raw: (line) => void asked.push(line),
    after: (_delayMs, run) => void timers.push(run),
    push: (arrival) => {
      if (arrival.kind === 'message' && arrival.id !== NOW) texts.push(String(arrival.text));
    },
    note: () => {},
    trouble: (reason) => void troubles.push(reason),
  });
  const line = (command: string, params: readonly string[], { tags = {}, text }: Said = {}): void =>
    history.take(lineOf({ command, params, tags }), text === undefined ? undefined : of(text));
  const target = (batch: string, name: string): void =>
    line('CHATHISTORY', ['TARGETS', name, time], { tags: { batch } });
  history.ask(channels, most);
  return {
    asked,
    texts,
    troubles,
    line,
    target,
    targets(batch: string, names: readonly string[]) {
      line('BATCH', [`+${batch}`, 'draft/chathistory-targets']);
      for (const name of names) target(batch, name);
      line('BATCH', [`-${batch}`]);
    },
    page(batch: string, place: string, said: readonly string[]) {
      line('BATCH', [`+${batch}`, 'chathistory', place]);
      for (const text of said) line('PRIVMSG', [place, text], { tags: { batch, time, msgid: text }, text });
      line('BATCH', [`-${batch}`]);
    },
    /** All that waits is due. */
    tick() {
      for (const run of timers.splice(0)) run();
    },
    /** Until all has come nothing that is stored moves the cursor. */
    isBehind() {
      const now = of(NOW);
      history.take(lineOf({ command: 'PRIVMSG', params: [], tags: { time: new Date().toISOString() } }), now);
      return history.cursorAfter([now]) === undefined;
    },
  };
}

const NOW = 'now';

const lineOf = (line: Pick<IrcLine, 'command' | 'params' | 'tags'>): IrcLine => ({
  ...line,
  nick: 'ann',
  ident: 'u',
  hostname: 'h',
});

interface Said {
  readonly tags?: Readonly<Record<string, string>>;
  readonly text?: string;
}

const of = (text: string): Arrival => ({
  id: text,
  conversation: { id: 'ann', kind: 'private' },
  user: { id: 'ann', name: 'ann', admin: false },
  sentAt: 0,
  kind: 'message',
  message: text,
  text,
  addressed: true,
});
