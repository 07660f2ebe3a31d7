// The chat page of the whole host, as a process: chats with plugins, presses buttons, and survives a kill -9 of the host.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type BrowserUnderTest, browser, chromiumMissing } from '../../support/browser.ts';
import { assertNoCanary, leakyHost } from '../../support/hosts/canaries.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';

const POLL = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'poll', setup(p) {
  const shown = p.state('shown', { scope: 'conversation', value: t.object({ message: t.message() }) });
  const vote = p.action('vote', { data: { option: t.string() } }, async (ctx, { option }) => {
    const found = await ctx.get(shown);
    if (found) ctx.edit(found.message, 'You chose ' + option + '.');
  });
  p.command('poll', { summary: 'Asks' }, (ctx) => {
    ctx.set(shown, { message: ctx.reply({ text: 'Lunch?', buttons: ['pizza', 'sushi'].map((option) => vote.button(option, { option })) }) }, 'any');
  });
} });
`;

let chromium: BrowserUnderTest;

describe('chat page of the whole host', { skip: chromiumMissing(), timeout: 600_000 }, () => {
  const closing: (() => void | Promise<void>)[] = [];
  before(async () => {
    chromium = await browser({ after: (close) => void closing.push(close) });
  });
  after(async () => {
    for (const close of closing) await close();
  });

  it('signs in, asks plugins, presses a button, and breaks neither its content policy nor a rule of axe', async (t) => {
    const host = await runningHost(t, {
      plugins: { sandbox: {}, echo: {}, ping: {}, help: {}, poll: { use: './plugins/poll.js' } },
      sources: { 'poll.js': POLL },
    });
    const { page, faults, violations } = await chromium.open(t, host.url);

    await signIn(page, host);
    await say(page, '/help');
    await seen(page, '/echo <text…> Says it back');
    await say(page, '/echo **hello** <img src=x onerror=alert(1)>');
    await seen(page, '**hello** <img src=x onerror=alert(1)>');
    await say(page, '/poll');
    await page.getByRole('button', { name: 'sushi' }).click();
    await seen(page, 'You chose sushi.');

    assert.equal(await page.getByRole('button', { name: 'pizza' }).count(), 0);
    assert.deepEqual([await violations(), faults], [[], []]);
  });

  it('survives a kill of the host without a reload: nothing is lost, nothing is there twice', async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {}, echo: {}, remind: {} } });
    const { page, faults } = await chromium.open(t, host.url);
    await signIn(page, host);
    await page.evaluate('window.mark = 1');

    await say(page, '/remind 2s water the plants');
    await seen(page, 'I will remind you in 2s.');
    await host.stop('SIGKILL');
    await page.locator('.state', { hasText: 'Connection lost' }).waitFor();
    await say(page, '/echo typed while down');
    await host.start();
    await page.locator('.message[data-own=false]', { hasText: 'typed while down' }).waitFor();
    await seen(page, 'reminder: water the plants');

    assert.equal(await page.evaluate('window.mark'), 1);
    const own = await page.locator('.message[data-own=true] .body').allTextContents();
    const bot = await page.locator('.message[data-own=false] .body').allTextContents();
    assert.deepEqual(own, ['/remind 2s water the plants', '/echo typed while down']);
    assert.deepEqual([...bot].sort(), [
      '@me reminder: water the plants',
      'I will remind you in 2s.',
      'typed while down',
    ]);
    assert.deepEqual(faults, []);
  });

  it('holds no secret of the configuration: in its document, what it stores, and what it was sent', async (t) => {
    const host = await leakyHost(t);
    const { page } = await chromium.open(t, host.url);
    const sent: Promise<string>[] = [];
    page.on('response', (response) => {
      if (!response.url().includes('/api/events')) sent.push(response.text().catch(() => ''));
    });

    await signIn(page, host);
    await say(page, '/echo hello');
    await seen(page, 'hello');
    await say(page, '/leak');
    await page.goto(`${host.url}plugins/leaky/leak`);
    const refused = await page.content();
    await page.goto(host.url);
    await signIn(page, host);
    await page.locator('.message[data-own=true]', { hasText: '/leak' }).waitFor();

    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    assertNoCanary('the document', await page.content(), host);
    assertNoCanary('an error page', refused, host);
    assertNoCanary('the storage', String(stored), host);
    assertNoCanary('what was sent to the page', (await Promise.all(sent)).join('\n'), host);
  });

  it('shows to a second tab of the same person what the first one says', async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {}, echo: {} } });
    const [one, two] = [await chromium.open(t, host.url), await chromium.open(t, host.url)];
    await signIn(one.page, host);
    await signIn(two.page, host);

    await say(one.page, '/echo both see this');

    await two.page.locator('.message[data-own=false]', { hasText: 'both see this' }).waitFor();
    await two.page.locator('.message[data-own=true]', { hasText: '/echo both see this' }).waitFor();
  });
});

async function signIn(page: Page, host: RunningHost): Promise<void> {
  await page.getByLabel('Token').fill(host.project.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.state', { hasText: 'Connected' }).waitFor();
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.keyboard.press('Enter');
}

const seen = (page: Page, text: string): Promise<void> =>
  page.locator('.message[data-own=false]', { hasText: text }).last().waitFor();
