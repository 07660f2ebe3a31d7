// A project of one account on a platform, its host, and the commands of an operator: the build with failpoints, so that either can be killed at a step.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebhookPlatform } from '../../../support/fake-platforms/webhook-platform.ts';
import { freePort } from '../../../support/free-port.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import { HostApi } from '../../crash/kit/host-api.ts';
import { logTail, WorkerLife } from '../../crash/kit/worker-life.ts';

export const CLI = fileURLToPath(new URL('../../../../dist/failpoints/cli.js', import.meta.url));
const ACCOUNT = 'shop';
/** A start that finishes a switch ends so that its owner starts it again. */
const START_AGAIN = 75;

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KillOptions {
  readonly failpoints?: string | undefined;
  /** SIGKILL so many milliseconds after its start. */
  readonly afterMs?: number | undefined;
  /** SIGKILL when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

export interface RecoveryProjectOptions {
  /** One of PLANTS (kill-plan.ts). */
  readonly plant?: string | undefined;
}

export class RecoveryProject {
  readonly project: TemporaryProject;
  readonly platform: WebhookPlatform;
  readonly url: string;
  readonly api: HostApi;
  /** Every delivery that was acknowledged, by id, with its text. */
  readonly acknowledged = new Map<string, string>();
  readonly #plant: string | undefined;
  #life: WorkerLife | undefined;
  #revision = 0;

  static async create(t: Cleanup, options: RecoveryProjectOptions = {}): Promise<RecoveryProject> {
    const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`);
    await platform.listen(t);
    const made = new RecoveryProject(t, platform, { ...options, port: await freePort() });
    t.after(() => made.kill());
    return made;
  }

  private constructor(
    t: Cleanup,
    platform: WebhookPlatform,
    { plant, port }: RecoveryProjectOptions & { readonly port: number },
  ) {
    this.platform = platform;
    this.#plant = plant;
    this.project = temporaryProject(t, {
      prefix: 'svc-recovery-',
      config: {
        log_level: 'warn',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        http: { port, token: '${HTTP_TOKEN}' },
        disk: { minFreeBytes: 0 },
        recovery: { everyHours: 0, verifyDays: 0 },
        plugins: {
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
          webhook: { endpoints: [{ id: ACCOUNT, url: platform.url(ACCOUNT), secrets: ['${HOOK_SECRET}'] }] },
          echo: {},
        },
      },
      env: { HOOK_SECRET: platform.secret },
    });
    this.url = `http://127.0.0.1:${port}`;
    this.api = new HostApi(this.url, this.project.token);
    this.changeJobs();
  }

  /** Jobs of another revision: what tells one state from the next. */
  changeJobs(): number {
    this.#revision += 1;
    const say = { to: { endpoint: `webhook~${ACCOUNT}`, conversation: 'jobs' }, text: 'tick' };
    const jobs = [{ id: 'tick', cron: '* * * * *', do: { say } }];
    this.project.write('data/schedule-jobs.json', JSON.stringify({ version: 1, revision: this.#revision, jobs }));
    return this.#revision;
  }

  /** Runs a command to its end, or to its kill. */
  svc(args: readonly string[], { failpoints, afterMs, signal }: KillOptions = {}): Promise<Ran> {
    const child = spawn(process.execPath, [CLI, ...args, '--project', this.project.path], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...this.#environment(), ...(failpoints === undefined ? {} : { SVC_FAILPOINTS: failpoints }) },
    });
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk;
      });
    if (afterMs !== undefined) {
      const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
      child.once('exit', () => clearTimeout(timer));
    }
    signal?.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
    return new Promise((resolve) => child.once('close', (code, by) => resolve({ code, signal: by, ...text })));
  }

  /** The document of a command that has to succeed. */
  async done(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    const ran = await this.svc([...args, '--json']);
    if (ran.code !== 0) throw new Error(`svc ${args.join(' ')}: ${ran.code ?? ran.signal} ${ran.stdout}${ran.stderr}`);
    return JSON.parse(ran.stdout) as Readonly<Record<string, unknown>>;
  }

  /** Resolves when the host is ready. Returns how often a start ended to be started again. */
  async start({ failpoints }: KillOptions = {}): Promise<number> {
    for (let again = 0; ; again += 1) {
      const life = new WorkerLife(this.project.path, { plant: this.#plant, failpoints });
      this.#life = life;
      const isReady = await until(async () => life.end !== undefined || (await this.api.isReady()), {
        what: 'the host to be ready',
      }).then(() => life.end === undefined);
      if (isReady) return again;
      if (life.end?.code !== START_AGAIN || again > 2)
        throw new Error(`the host ended with ${JSON.stringify(life.end)}:\n${logTail(this.project.path)}`);
    }
  }

  async stop(): Promise<void> {
    await this.#life?.stop();
    this.#life = undefined;
  }

  /** The end of the life, if it was killed at its failpoint or is killed here. */
  async kill(): Promise<void> {
    await this.#life?.kill();
    this.#life = undefined;
  }

  get hasEnded(): boolean {
    return this.#life?.end !== undefined;
  }

  /** A message that asks for an answer. The same id may come again. */
  async deliver(text: string, id = `evt_${text}`): Promise<void> {
    const payload = { conversation: { id: 'room' }, user: { id: 'ann' }, text: `/echo ${text}` };
    const { body, headers } = this.platform.sign(id, payload);
    const response = await fetch(`${this.url}/webhooks/webhook/${ACCOUNT}`, {
      method: 'POST',
      body,
      headers: { ...headers, connection: 'close' },
    });
    if (!response.ok) throw new Error(`delivery ${id} was answered ${response.status}: ${await response.text()}`);
    this.acknowledged.set(id, text);
  }

  /** Every delivery once more, as platforms do: nothing of it is new. */
  async repeat(): Promise<void> {
    for (const [id, text] of this.acknowledged) await this.deliver(text, id);
    await this.idle();
  }

  /** Answers that people were not shown once. */
  get wrongAnswers(): readonly string[] {
    return [...this.acknowledged.values()].flatMap((text) => {
      const times = this.shown(text);
      return times === 1 ? [] : [`${text} was ${times === 0 ? 'never answered' : `answered ${times} times`}`];
    });
  }

  /** Nothing is under way any more. */
  async idle(): Promise<void> {
    await until(async () => (await this.api.unfinished()) === 0, { what: 'all to be handled' });
  }

  /** How often people were shown an answer. */
  shown(text: string): number {
    return [...this.platform.posts.values()]
      .filter((post) => post.text === text)
      .reduce((sum, { taken }) => sum + taken.length, 0);
  }

  #environment(): Readonly<Record<string, string>> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      ...(this.#plant === undefined ? {} : { SVC_PLANT: this.#plant }),
    };
  }
}

/** Moves a project to a file system that `mount` puts on its folder. All of it is on the disk then. */
export function moveOnto(path: string, mount: () => void): void {
  const aside = mkdtempSync(join(tmpdir(), 'svc-aside-'));
  try {
    cpSync(path, aside, { recursive: true });
    mount();
    cpSync(aside, path, { recursive: true });
    execFileSync('sync', ['-f', path]);
  } finally {
    if (existsSync(aside)) rmSync(aside, { recursive: true, force: true });
  }
}
