// The chat page in a real browser, over the real HTTP interface.
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { type BrowserUnderTest, browser, chromiumMissing, type Tab } from '../../support/browser.ts';
import { type ChatHost, chatHost, FULL_TOKEN } from '../../support/hosts/chat-host.ts';
import { until } from '../../support/until.ts';

let chromium: BrowserUnderTest;

describe('chat page', { skip: chromiumMissing(), timeout: 600_000 }, () => {
  const closing: (() => void | Promise<void>)[] = [];
  before(async () => {
    chromium = await browser({ after: (close) => void closing.push(close) });
  });
  after(async () => {
    for (const close of closing) await close();
  });

  it('signs in, chats, and breaks neither its content policy nor a rule of axe, in light, dark and at 360 px', async (t) => {
    const host = await chatHost(t);
    host.answer = (text) => `you said **${text}**`;

    for (const look of [{ width: 360, height: 640 }, { colorScheme: 'dark' as const }]) {
      const tab = await chromium.open(t, host.url, look);
      const onForm = await tab.violations();
      await signIn(tab.page, 'ann');
      await say(tab.page, 'hello');
      await seen(tab.page, 'you said hello');

      assert.equal(await tab.page.locator('.message strong').last().textContent(), 'hello');
      assert.deepEqual([onForm, await tab.violations(), tab.faults], [[], [], []]);
      assert.ok(
        await tab.page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        'nothing is wider than the window',
      );
    }
  });

  it('survives a restart of the host without a reload: says so, sends what was typed meanwhile once, and shows what came meanwhile', async (t) => {
    const { host, tab } = await signedIn(t);
    const { page } = tab;
    await page.evaluate('window.mark = 1');

    await host.stop();
    await page.locator('.state', { hasText: 'Connection lost' }).waitFor();
    assert.equal(await page.locator('.messages').getAttribute('data-stale'), 'true');
    await say(page, 'typed while down');
    await page.locator('.progress', { hasText: 'does not answer' }).waitFor();
    host.send('ann', { text: 'sent while down' });
    await host.start();
    await page.locator('.state', { hasText: 'Connected' }).waitFor();
    await seen(page, 'sent while down');
    await until(() => host.said.length === 1, { what: 'the line' });
    await until(async () => (await page.locator('.progress').count()) === 0, { what: 'the line to be taken' });

    assert.equal(await page.evaluate('window.mark'), 1);
    assert.deepEqual(host.said, ['typed while down']);
    assert.equal(await page.locator('.message', { hasText: 'typed while down' }).count(), 1);
    assert.deepEqual(tab.faults, []);
  });

  it('shows edits, removals and reactions as they come, and presses buttons', async (t) => {
    const { host, tab } = await signedIn(t);
    const buttons = [
      { label: 'pizza', token: 'tok-1', style: 'primary' as const },
      { label: 'never', token: 'tok-2', style: 'danger' as const },
    ];
    const id = host.send('ann', { text: 'Lunch?', buttons });
    const other = host.send('ann', { text: 'a mistake' });

    await tab.page.getByRole('button', { name: 'never' }).waitFor();
    const shown = await tab.page.evaluate<string[]>(
      `[...document.querySelectorAll('button')].map((one) => getComputedStyle(one)).map(({ color, backgroundColor }) => color + backgroundColor)`,
    );
    assert.equal(new Set(shown).size, 3, shown.join(' '));
    assert.deepEqual(await tab.violations(), []);
    await tab.page.getByRole('button', { name: 'pizza' }).click();
    await until(() => host.pressed.length === 1, { what: 'the press' });
    host.send('ann', { kind: 'edit', message: id, text: 'Lunch: pizza' } as never);
    host.send('ann', { kind: 'remove', message: other } as never);
    host.send('ann', { kind: 'react', message: id, emoji: '🍕', on: true } as never);
    await seen(tab.page, 'Lunch: pizza');
    await seen(tab.page, 'This message was removed.');
    await seen(tab.page, '🍕');

    assert.deepEqual(host.pressed, ['tok-1']);
    assert.equal(await tab.page.getByRole('button', { name: 'pizza' }).count(), 0);
    assert.deepEqual([await tab.violations(), tab.faults], [[], []]);
  });

  it('shows the newest of a long history, says that there are older ones, and follows edits of what it shows', async (t) => {
    const host = await chatHost(t);
    const first = host.send('ann', { text: 'line 0' });
    const firstAt = Date.now();
    await until(() => Date.now() > firstAt, { what: 'the next millisecond' });
    const ids = [first, ...Array.from({ length: 449 }, (_, n) => host.send('ann', { text: `line ${n + 1}` }))];
    const { page, faults } = await chromium.open(t, host.url);

    await signIn(page, 'ann');
    await seen(page, 'line 449');
    const count = await page.locator('.message').count();
    host.send('ann', { kind: 'edit', message: ids[0], text: 'edited far above' } as never);
    host.send('ann', { kind: 'edit', message: ids[440], text: 'edited in view' } as never);
    await seen(page, 'edited in view');

    assert.equal(count, 200);
    assert.equal(await page.locator('.older').isVisible(), true);
    assert.equal(await page.locator('.message', { hasText: 'edited far above' }).count(), 0);
    assert.equal(await page.locator('.message').last().locator('.body').textContent(), 'line 449');
    assert.deepEqual(faults, []);
  });

  it('shows hostile text as inert text, whoever wrote it, and stays quick', async (t) => {
    const { host, tab } = await signedIn(t);
    const { page } = tab;
    const hostile = [
      '<img src=x onerror="document.title=1">',
      '[click](javascript:alert(1))',
      '<script>document.title=1</script>',
      '\u202egnp.exe',
      '![x](http://127.0.0.2/pixel.png)',
    ];

    for (const text of hostile) host.send('ann', { text });
    host.send('ann', { text: '*a['.repeat(350_000) });
    for (const text of hostile) await say(page, text);
    await until(
      async () =>
        (await page.locator('.message').count()) >= 2 * hostile.length + 1 &&
        (await page.locator('.progress').count()) === 0,
      { what: 'all messages' },
    );

    assert.equal(await page.title(), 'svc chat');
    assert.equal(await page.locator('.message img, .message script, .message a[href^="javascript"]').count(), 0);
    assert.equal(await page.getByText('\u202e').count(), 0);
    assert.equal(await page.evaluate('1'), 1, 'the page answers');
    assert.deepEqual(tab.faults, []);
  });

  it('refuses a wrong token in one way, with the request id, and keeps no token unless asked', async (t) => {
    const host = await chatHost(t);
    const tab = await chromium.open(t, host.url);

    await tryToSignIn(tab.page, 'ann', 'wrong-token-0123456789');
    await tab.page.locator('[role=alert]', { hasText: /not accepted \(request \S+\)/ }).waitFor();
    await tryToSignIn(tab.page, 'ann', 'demo-token-0123456789abcdef');
    await tab.page.locator('[role=alert]', { hasText: 'may only read' }).waitFor();
    await signIn(tab.page, 'ann');

    assert.equal(
      await tab.page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.search])',
      ),
      '[{},{},"",""]',
    );
    await tab.page.reload();
    await tab.page.getByLabel('Token').waitFor();
    await tab.page.getByLabel('Stay signed in').check();
    await signIn(tab.page, 'ann');
    await tab.page.reload();
    await tab.page.getByLabel('Message').waitFor();
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    assert.equal(await tab.page.evaluate('JSON.stringify({ ...sessionStorage })'), '{}');
    assert.deepEqual(tab.faults, []);
  });

  it('goes back to the form when the token is revoked, and keeps the text that was not sent', async (t) => {
    const { host, tab } = await signedIn(t);

    // Typed before: the page may hear of the token before a line is sent, and then there is no field any more.
    await tab.page.getByLabel('Message').fill('not sent yet');
    host.token = 'another-token-0123456789';
    await tab.page.keyboard.press('Enter');
    await tab.page.getByLabel('Token').waitFor();
    await signIn(tab.page, 'ann', 'another-token-0123456789');

    assert.equal(await tab.page.getByLabel('Message').inputValue(), 'not sent yet');
    assert.deepEqual(host.said, []);
  });

  it('works with the keyboard alone, and below a base path', async (t) => {
    const host = await chatHost(t, { base: '/bots/one' });
    host.answer = () => 'answer';
    const { page, faults } = await chromium.open(t, host.url);

    await page.keyboard.type(FULL_TOKEN);
    await page.keyboard.press('Tab');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('ann');
    await page.keyboard.press('Enter');
    await page.getByLabel('Message').waitFor();
    await page.keyboard.type('two');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('lines');
    await page.keyboard.press('Enter');
    await seen(page, 'answer');

    assert.deepEqual([host.said, faults], [['two\nlines'], []]);
    assert.equal(await page.evaluate('document.activeElement.name'), 'line');
  });
});

async function signedIn(t: TestContext): Promise<{ readonly host: ChatHost; readonly tab: Tab }> {
  const host = await chatHost(t);
  const tab = await chromium.open(t, host.url);
  await signIn(tab.page, 'ann');
  return { host, tab };
}

async function signIn(page: Page, person: string, token = FULL_TOKEN): Promise<void> {
  await tryToSignIn(page, person, token);
  await page.locator('.state', { hasText: 'Connected' }).waitFor();
}

async function tryToSignIn(page: Page, person: string, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByLabel('Your name').fill(person);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.keyboard.press('Enter');
}

const seen = (page: Page, text: string): Promise<void> => page.locator('.message', { hasText: text }).last().waitFor();
