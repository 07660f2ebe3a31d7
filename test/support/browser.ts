// Chromium without a window, from Debian's package, driven by playwright-core. Every page reports violations of its content policy and errors.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Cleanup } from './temporary-project.ts';

const EXECUTABLE = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
// What Chromium would otherwise ask of the network by itself.
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

/** Why browser tests cannot run here, or false. Throws where they have to run. */
export function chromiumMissing(): string | false {
  if (EXECUTABLE !== undefined) return false;
  if (process.env['SVC_REQUIRE_CHROMIUM'] === '1')
    throw new Error('SVC_REQUIRE_CHROMIUM=1, but there is no Chromium: apt-get install -y chromium');
  return 'there is no Chromium on this machine: apt-get install -y chromium';
}

export interface Tab {
  readonly page: Page;
  /** Violations of the content policy, errors of scripts, and requests to other origins: none, if all is well. */
  readonly faults: readonly string[];
  /** Rules of axe that the page breaks now. */
  violations(): Promise<readonly string[]>;
}

export interface BrowserUnderTest {
  /** A new tab with an empty session. */
  open(
    t: Cleanup,
    url: string,
    options?: { readonly width?: number; readonly height?: number; readonly colorScheme?: 'light' | 'dark' },
  ): Promise<Tab>;
}

export async function browser(t: Cleanup): Promise<BrowserUnderTest> {
  const running = await chromium.launch({ executablePath: EXECUTABLE ?? 'chromium', args: ARGUMENTS, headless: true });
  t.after(() => running.close());
  return {
    async open(owner, url, { width = 1_000, height = 700, colorScheme = 'light' } = {}) {
      const context = await running.newContext({ viewport: { width, height }, colorScheme });
      context.setDefaultTimeout(15_000);
      owner.after(() => context.close());
      return tab(context, url);
    },
  };
}

async function tab(context: BrowserContext, url: string): Promise<Tab> {
  const faults: string[] = [];
  const page = await context.newPage();
  await page.exposeFunction('reportViolation', (text: string) => void faults.push(text));
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) => reportViolation('policy: ' + event.violatedDirective + ' ' + event.blockedURI));`,
  );
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith('data:'))
      faults.push(`foreign: ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults, violations: () => violations(page) };
}

const axeSource = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource());
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.html).join(' | ')))`,
  );
  return found as readonly string[];
}
