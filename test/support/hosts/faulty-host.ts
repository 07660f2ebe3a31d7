// The real worker on a project of its own, with one webhook account, for tests that take its storage away: what was acknowledged, what was
// refused, how long readiness took to say so.
import { randomBytes, randomUUID } from 'node:crypto';
import { HostApi, type ListedItem } from '../../kits/crash/kit/host-api.ts';
import { logTail, WorkerLife } from '../../kits/crash/kit/worker-life.ts';
import { WebhookPlatform, type WebhookPlatformOptions } from '../fake-platforms/webhook-platform.ts';
import { freePort } from '../free-port.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../temporary-project.ts';
import { until } from '../until.ts';

export interface FaultyHostOptions {
  readonly failpoints?: string;
  /** Called before the start: for a disk under the state folder. */
  readonly prepare?: (project: TemporaryProject) => void;
  readonly plugins?: Readonly<Record<string, unknown>>;
  readonly sources?: Readonly<Record<string, string>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly platform?: WebhookPlatformOptions;
  /** More of the worker's process environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** 50 ms apart: what several looks of the host at its storage take. */
const LOOKS = 44;
const POST_LIMIT_MS = 60_000;

export interface Delivered {
  readonly id: string;
  readonly status: number;
}

export class FaultyHost {
  readonly project: TemporaryProject;
  readonly platform: WebhookPlatform;
  readonly api: HostApi;
  readonly url: string;
  readonly acknowledged: string[] = [];
  readonly refused: string[] = [];
  readonly #sent = new Map<string, object>();
  life: WorkerLife;
  readonly #environment: FaultyHostOptions['environment'];

  static async start(t: Cleanup, options: FaultyHostOptions = {}): Promise<FaultyHost> {
    const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`, options.platform);
    await platform.listen(t);
    const host = new FaultyHost(t, { options, platform, port: await freePort() });
    t.after(async () => void (await host.life.kill()));
    await host.isReady(true);
    return host;
  }

  private constructor(
    t: Cleanup,
    { options, platform, port }: { options: FaultyHostOptions; platform: WebhookPlatform; port: number },
  ) {
    const { plugins = {}, sources, config, prepare, failpoints } = options;
    this.#environment = options.environment;
    this.platform = platform;
    this.project = temporaryProject(t, {
      config: {
        log_level: 'warn',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        http: { port, token: '${HTTP_TOKEN}' },
        disk: { minFreeBytes: 0 },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        plugins: {
          webhook: { endpoints: [{ id: 'shop', url: platform.url('shop'), secrets: ['${HOOK_SECRET}'] }] },
          echo: {},
          ...plugins,
        },
        ...config,
      },
      env: { HOOK_SECRET: platform.secret },
      ...(sources === undefined ? {} : { plugins: sources }),
      prefix: 'svc-fault-',
    });
    prepare?.(this.project);
    this.url = `http://127.0.0.1:${port}`;
    this.api = new HostApi(this.url, this.project.token);
    this.life = this.#begin(failpoints);
  }

  #begin(failpoints: string | undefined): WorkerLife {
    const environment = this.#environment;
    return new WorkerLife(this.project.path, { environment, ...(failpoints === undefined ? {} : { failpoints }) });
  }

  /** Waits until readiness says so. */
  async isReady(ready: boolean): Promise<void> {
    await until(async () => (await this.api.isReady()) === ready, {
      what: `readiness to be ${ready}`,
      everyMs: 20,
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${logTail(this.project.path)}`, { cause: error });
    });
  }

  /** It does not call itself ready for as long as several looks at the storage take. */
  async staysUnready(): Promise<void> {
    for (let look = 0; look < LOOKS; look += 1) {
      if (await this.api.isReady()) throw new Error(`ready while the fault lasts:\n${logTail(this.project.path)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Delivers one text in a conversation of its own and notes how it was answered; its id. */
  deliver(text: string, conversation = randomUUID()): Promise<Delivered> {
    return this.#deliver(`evt_${randomUUID()}`, { conversation: { id: conversation }, user: { id: 'ann' }, text });
  }

  /** One text that ends the process, whose answer may be lost with that: it is handled as soon as it is stored. Its id. */
  async deliverDeadly(text: string): Promise<string> {
    const id = `evt_${randomUUID()}`;
    await this.#deliver(id, { conversation: { id }, user: { id: 'ann' }, text }).catch(() => this.life.ended);
    return id;
  }

  /** All that was refused comes again under its id, as from a platform; how it was answered, each status once. */
  async redeliver(): Promise<readonly number[]> {
    const again = this.refused.splice(0).map((id) => this.#deliver(id, this.#sent.get(id) ?? {}));
    return [...new Set((await Promise.all(again)).map(({ status }) => status))];
  }

  async #deliver(eventId: string, payload: object): Promise<Delivered> {
    this.#sent.set(eventId, payload);
    const { id, body, headers } = this.platform.sign(eventId, payload);
    const sent = fetch(`${this.url}/webhooks/webhook/shop`, {
      method: 'POST',
      headers: { ...headers, connection: 'close' },
      body,
      signal: AbortSignal.timeout(POST_LIMIT_MS),
    });
    const response = await sent.catch((error: unknown) => {
      throw new Error(
        `a delivery got no answer: ${String((error as Error).cause)}; the worker ${this.life.end === undefined ? 'runs' : `ended with ${this.life.end.code ?? this.life.end.signal}`}\n${logTail(this.project.path)}`,
      );
    });
    await response.text();
    (response.status < 300 ? this.acknowledged : this.refused).push(id);
    return { id, status: response.status };
  }

  /** Many at once; how they were answered, each status once. */
  async deliverMany(count: number): Promise<readonly number[]> {
    const ends = await Promise.all(
      Array.from({ length: count }, (_, index) => this.deliver(`hello ${index} ${'.'.repeat(500)}`)),
    );
    return [...new Set(ends.map(({ status }) => status))];
  }

  /** Everything that is stored has been handled; the items by delivery id. */
  async handled(): Promise<ReadonlyMap<string, ListedItem>> {
    await until(async () => (await this.api.unfinished()) === 0, {
      what: 'everything to be handled',
    });
    return new Map((await this.api.inbox()).map((item) => [item.deliveryId, item]));
  }

  restart(failpoints?: string): void {
    this.life = this.#begin(failpoints);
  }
}
