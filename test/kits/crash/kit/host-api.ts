// What the host says of itself over HTTP, read at the end of a run.

export interface ListedItem {
  readonly id: string;
  readonly endpoint: string;
  readonly state: string;
  readonly deliveryId: string;
  readonly attempts: number;
}

export interface SandboxMessage {
  readonly from: string;
  readonly text: string;
  readonly reactions: readonly string[];
}

export class HostApi {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      headers: { authorization: `Bearer ${this.#token}`, connection: 'close' },
    });
    if (!response.ok) throw new Error(`GET ${path} was answered ${response.status}: ${await response.text()}`);
    return response.json();
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.#url}/pub/ready`, { headers: { connection: 'close' } }).then(
      (response) => response.status === 200,
      () => false,
    );
  }

  /** How many items of a store are in a state. */
  async count(store: 'inbox' | 'outbox', state: string): Promise<number> {
    const page = (await this.get(`/api/${store}?limit=1&state=${state}`)) as { total: number };
    return page.total;
  }

  /** Items that are not over yet, in both stores. */
  async unfinished(): Promise<number> {
    const counts = [
      ...['received', 'handling', 'waiting'].map((state) => this.count('inbox', state)),
      ...['pending', 'sending', 'waiting'].map((state) => this.count('outbox', state)),
    ];
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  async inbox(): Promise<readonly ListedItem[]> {
    const items: ListedItem[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = (await this.get(`/api/inbox?limit=200${after === '' ? '' : `&after=${after}`}`)) as {
        items: ListedItem[];
        next?: string;
      };
      items.push(...page.items);
      after = page.next;
    }
    return items;
  }

  /** What the bot said in a conversation of the sandbox. */
  async said(person: string): Promise<readonly string[]> {
    return (await this.shownTo(person)).map(({ text }) => text);
  }

  /** The same, with its reactions. */
  async shownTo(person: string): Promise<readonly SandboxMessage[]> {
    const all: SandboxMessage[] = [];
    for (let after = 0, more = true; more; ) {
      const page = (await this.get(`/api/chat/messages?person=${person}&after=${after}&limit=500`)) as {
        messages: SandboxMessage[];
        cursor: number;
        more: boolean;
      };
      all.push(...page.messages);
      ({ cursor: after, more } = page);
    }
    return all.filter(({ from }) => from !== person);
  }

  /** Every stored event, oldest first. */
  async *events(): AsyncGenerator<Readonly<Record<string, unknown>>> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = (await this.get(`/api/events?format=json&limit=1000${after === '' ? '' : `&after=${after}`}`)) as {
        items: Record<string, unknown>[];
        next?: string;
      };
      yield* page.items;
      after = page.next;
    }
  }
}
