// What becomes of a message on its way: whom it reaches, and what an edit does to one that was too long for its platform.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineEvent, definePlugin, type PluginModule, type State, t, type UserRef } from 'svc';
import { everyCrash } from 'svc/testing';
import type { MemoryBot } from '../../../worker/testing/memory-bot.ts';
import { startBot } from '../../../worker/testing/start-bot.ts';
import type { TestBotOptions } from '../../../worker/testing/test-bot.ts';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const one = (setup: SetupOf): PluginModule => definePlugin({ name: 'x', setup });
const start = (setup: SetupOf, options?: TestBotOptions): Promise<MemoryBot> => startBot(one(setup), options);
const SHORT = { text: { limit: 20, unit: 'utf16', render: 'plain' } } as const;
const MESSAGE = { sent: t.string() };

describe('what is for one person', () => {
  it('goes to the private conversation, without reply and thread, and its buttons work there', async () => {
    const bot = await start(
      (p) => {
        const press = p.action('press', { data: {} }, (ctx) => `pressed in ${ctx.conversation.id}`);
        p.on('message', { text: 'only' }, (ctx, m) => ({
          text: 'you',
          only: ctx.user,
          replyTo: m.ref,
          thread: m.ref,
          buttons: [press.button('ok', {})],
        }));
      },
      { can: { only: false } },
    );

    await bot.person('Ann', { in: 'room' }).says('only');
    await bot.person('Ann').presses('ok');

    assert.deepEqual([bot.shown('room'), bot.shown('dm-Ann')], [[], ['you', 'pressed in dm-Ann']]);
    assert.equal(bot.platform.messages('dm-Ann')[0]?.thread, undefined);
  });

  it('stays in a private conversation as it is', async () => {
    const bot = await start((p) => p.on('message', {}, (ctx) => ({ text: 'you', only: ctx.user })), {
      can: { only: false },
    });

    await bot.person('Ann').says('x');

    assert.deepEqual(bot.shown('dm-Ann'), ['you']);
  });

  it('is sent in private to a person whom a message mentions', async () => {
    const bot = await start((p) => {
      p.on('message', {}, (ctx, { segments }) => {
        for (const one of segments) if (one.kind === 'mention' && one.user !== 'everyone') ctx.send(one.user, 'you');
      });
    });
    const mentions = [{ kind: 'mention', user: { endpoint: '', id: 'bob' } }] as const;
    const conversation = { id: 'room', kind: 'group' } as const;
    const user = { id: 'ann', name: 'Ann', admin: false };

    await bot.arrive({ kind: 'message', id: 'd1', message: 'p1', text: mentions, conversation, user, sentAt: 0 });

    assert.deepEqual([bot.shown('dm-bob'), bot.shown('bob')], [['you'], []]);
  });

  it('is sent to a person in private, also after that person was stored; else to the conversation of that id', async () => {
    const setup: SetupOf = (p) => {
      const later = p.task('later', { data: { who: t.user() } }, (ctx, { who }) => void ctx.send(who, 'later'));
      const seen: State<UserRef> = p.state('seen', { scope: 'plugin', value: t.user() });
      p.on('message', { text: 'go' }, async (ctx) => {
        ctx.send(ctx.user, 'now');
        ctx.schedule(later, { who: ctx.user }, { afterMs: 1_000 });
        ctx.set(seen, ctx.user, 'any');
      });
      p.on('message', { text: 'who' }, async (ctx) => {
        const who = await ctx.get(seen);
        if (who !== undefined) ctx.send(who, 'again');
      });
    };
    for (const direct of [true, false]) {
      const bot = await start(setup, { direct });
      await bot.person('ann', { in: 'room' }).says('go');
      await bot.clock.advance('1s');
      await bot.restart();
      await bot.person('bob', { in: 'room' }).says('who');

      assert.deepEqual(bot.shown(direct ? 'dm-ann' : 'ann'), ['now', 'later', 'again']);
      assert.deepEqual(bot.shown('room'), []);
    }
  });
});

/** What is remembered there, `edit text` changes and `remove` removes. */
function changeable(p: Parameters<SetupOf>[0]) {
  const shown = p.state('shown', { scope: 'conversation', value: t.object(MESSAGE) });
  p.on('message', { text: /^edit (?<text>.*)/s }, async (ctx) => {
    const message = await ctx.get(shown);
    if (message !== undefined) ctx.edit(message, ctx.groups['text'] ?? '');
  });
  p.on('message', { text: 'remove' }, async (ctx) => {
    const message = await ctx.get(shown);
    if (message !== undefined) ctx.remove(message);
  });
  return shown;
}

/** Says `text` and remembers it; `edit text` changes it; `remove` removes it. Blanks are where it may be cut. */
const editor: SetupOf = (p) => {
  const shown = changeable(p);
  p.on('message', { text: /^say (?<text>.*)/s }, (ctx) => {
    ctx.set(shown, ctx.reply(ctx.groups['text'] ?? '') as { sent: string }, 'any');
  });
  p.on('message', { text: 'both' }, (ctx) => {
    const message = ctx.reply('first part is this, second part');
    ctx.edit(message, 'short');
    ctx.edit(message, 'again it is much too long for one');
  });
};
const THREE = 'one one one one one two two two two two three three';
const [ONE, TWO, REST] = ['one one one one one', 'two two two two two', 'three three'];

describe('an edit of a message in parts', () => {
  const tell = async (lines: readonly string[], can: TestBotOptions['can'] = {}): Promise<string[]> => {
    const bot = await start(editor, { can: { ...SHORT, ...can } });
    for (const line of lines) await bot.person('ann').says(line);
    await bot.stop();
    return bot.shown('dm-ann');
  };

  it('changes each part', async () => {
    assert.deepEqual(await tell([`say ${THREE}`]), [ONE, TWO, REST]);
    assert.deepEqual(await tell([`say ${THREE}`, `edit ${THREE.toUpperCase()}`]), [
      ONE.toUpperCase(),
      TWO.toUpperCase(),
      REST.toUpperCase(),
    ]);
  });

  it('removes what is left over, and says so where nothing can be removed', async () => {
    assert.deepEqual(await tell([`say ${THREE}`, 'edit short']), ['short']);
    assert.deepEqual(await tell([`say ${THREE}`, 'edit short'], { remove: false }), [
      'short',
      '(removed)',
      '(removed)',
    ]);
  });

  it('sends what is more, and changes that too', async () => {
    assert.deepEqual(await tell(['say short', `edit ${THREE}`]), [ONE, TWO, REST]);
    assert.deepEqual(await tell(['say short', `edit ${THREE}`, 'edit tiny']), ['tiny']);
    assert.deepEqual(await tell([`say ${THREE}`, 'edit short', `edit ${THREE}`, 'edit a', `edit ${THREE}`]), [
      ONE,
      TWO,
      REST,
    ]);
    const lines = [`say ${THREE}`, 'edit short', `edit ${THREE}`];
    assert.deepEqual(await tell(lines, { remove: false }), [ONE, TWO, REST]);
  });

  it('knows what the same run has sent', async () => {
    assert.deepEqual(await tell(['both']), ['again it is much too', 'long for one']);
  });

  it('is a new message where nothing can be edited', async () => {
    assert.deepEqual(await tell([`say ${THREE}`, 'edit short'], { edit: false }), [ONE, TWO, REST, 'short']);
  });

  it('is the same after a kill at any point', () =>
    everyCrash(
      () => start(editor, { can: SHORT }),
      async (bot) => {
        for (const line of [`say ${THREE}`, 'edit short', `edit ${THREE} and more`]) await bot.person('ann').says(line);
      },
      (bot, point) => assert.deepEqual(bot.shown('dm-ann'), [ONE, TWO, 'three three and more'], point),
    ));

  it('is removed with all of its parts', async () => {
    assert.deepEqual(await tell([`say ${THREE}`, 'remove']), []);
  });
});

/** Each file in a call of its own, behind the text. */
const APART: TestBotOptions['can'] = {
  ...SHORT,
  files: { maxBytes: 1_000, apart: (_text, files) => ({ withText: [], behind: files.map((file) => [file]) }) },
};
/** As `editor`, with files. */
const album: SetupOf = (p) => {
  const shown = changeable(p);
  p.on('message', { text: 'album' }, async (ctx) => {
    const files = [];
    for (const name of ['a', 'b']) files.push(await ctx.saveFile(name, 'text/plain', Buffer.from(name)));
    ctx.set(shown, ctx.reply({ text: 'see these', files }) as { sent: string }, 'any');
  });
};

const albumAtOnce: SetupOf = (p) => {
  p.on('message', {}, async (ctx) => {
    const file = await ctx.saveFile('a', 'text/plain', Buffer.from('a'));
    ctx.edit(ctx.reply({ text: 'see this', files: [file] }), 'short');
  });
};

describe('a message whose files go in calls of their own', () => {
  const shownOf = (bot: MemoryBot): readonly string[] =>
    bot.platform.messages('dm-ann').map(({ text, files }) => [text, ...files.map(({ name }) => name)].join(' ').trim());

  it('is sent call by call, each once over a kill at any point, where the platform drops repeats', () =>
    everyCrash(
      () => start(album, { can: APART }),
      (bot) => bot.person('ann').says('album'),
      (bot, point) => assert.deepEqual(shownOf(bot), ['see these', 'a', 'b'], point),
    ));

  it('repeats one call at most for a kill where the platform drops no repeats', () =>
    everyCrash(
      () => start(album, { can: { ...APART, idempotent: false } }),
      (bot) => bot.person('ann').says('album'),
      (bot, point) => {
        assert.deepEqual([...new Set(shownOf(bot))], ['see these', 'a', 'b'], point);
        assert.ok(shownOf(bot).length <= 4, `${point}: ${shownOf(bot).join(', ')}`);
      },
    ));

  it('keeps its files when the same run edits it', async () => {
    const bot = await start(albumAtOnce, { can: APART });
    await bot.person('ann').says('x');

    assert.deepEqual(shownOf(bot), ['short', 'a']);
    await bot.stop();
  });

  it('keeps its files when its text is edited to more or less, and is removed with them', async () => {
    const bot = await start(album, { can: APART });
    await bot.person('ann').says('album');
    await bot.person('ann').says(`edit ${THREE}`);
    assert.deepEqual(shownOf(bot), [ONE, 'a', 'b', TWO, REST]);
    await bot.person('ann').says('edit short');
    assert.deepEqual(shownOf(bot), ['short', 'a', 'b']);
    await bot.restart();
    await bot.person('ann').says('remove');

    assert.deepEqual(shownOf(bot), []);
    await bot.stop();
  });
});

describe('an edited message', () => {
  it('is matched by its text as a message is, and is no command', async () => {
    const bot = await start((p) => {
      p.command('go', { summary: '' }, () => 'command');
      p.on('edited', { text: /^fix (?<what>\w+)$/, addressed: true }, (ctx) => `edited ${ctx.groups['what']}`);
    });
    const base = { sentAt: 0, user: { id: 'ann', name: 'ann', admin: false }, message: 'm1', kind: 'edited' } as const;
    const conversation = { id: 'room', kind: 'group' } as const;

    await bot.arrive({ ...base, id: 'e1', conversation, text: 'fix this', addressed: true });
    await bot.arrive({ ...base, id: 'e2', conversation, text: 'fix that' });
    await bot.arrive({ ...base, id: 'e3', conversation, text: '/go', addressed: true });

    assert.deepEqual(bot.shown('room'), ['edited this']);
  });
});

describe('a button', () => {
  it('has the style that its plugin gave it', async () => {
    const bot = await start((p) => {
      const no = p.action('no', { data: {} }, () => {});
      p.on('message', {}, () => ({ text: 'sure?', buttons: [no.button('yes', {}), no.button('no', {}, 'danger')] }));
    });

    await bot.person('ann').says('x');

    const [message] = bot.platform.messages('dm-ann');
    assert.deepEqual(
      message?.buttons.map((button) => [button.label, (button as { style?: string }).style]),
      [
        ['yes', undefined],
        ['no', 'danger'],
      ],
    );
  });
});

describe('definitions that stand together', () => {
  it('are refused where they subscribe to what never happens', async () => {
    for (const type of ['inbox.doen', 'svc.hello', 'Nonsense'])
      await assert.rejects(
        start((p) => p.subscribe(defineEvent(type, t.object({})), () => {})),
        { code: 'definition_invalid', message: new RegExp(`there is no event ${type}`) },
      );
    await start((p) => {
      p.subscribe(defineEvent('inbox.done', t.object({})), () => {});
      p.subscribe(defineEvent('polls.closed', t.object({})), () => {});
    });
  });

  it('are told apart in the log where one command hides another', async () => {
    const other = definePlugin({
      name: 'other',
      setup(p) {
        p.command('stop', { summary: '', aliases: ['go'] }, () => 'other');
      },
    });
    const bot = await startBot({ x: one((p) => p.command('go', { summary: '' }, () => 'first')), other });

    await bot.person('ann').says('/go');

    assert.deepEqual(bot.shown('dm-ann'), ['first']);
    assert.match(
      JSON.stringify(bot.logs),
      /"capability":"root\/other#command\/stop","name":"go","by":"root\/x#command\/go"/,
    );
  });
});
