// People at a board over HTTP: each has an item of its own and changes it again and again. A command without an answer comes again under its key.
import { randomUUID } from 'node:crypto';

export interface Acknowledged {
  /** Command id without the caller: the key. */
  readonly key: string;
  readonly stream: string;
  readonly version: number;
}

interface Accepted {
  readonly stream: string;
  readonly item: string | null;
  readonly version: number;
}

const DUE_FROM = Date.UTC(2040, 0, 1);

export class WorkroomLoad {
  readonly acknowledged: Acknowledged[] = [];
  /** Answers that are none of a healthy host. */
  readonly faults: string[] = [];
  readonly #url: string;
  readonly #token: string;
  readonly #more: Readonly<Record<string, string>>;
  #isOpen = false;
  #hasEnded = false;
  #inFlight = 0;
  #turned: () => void = () => {};
  #turn = new Promise<void>((resolve) => {
    this.#turned = resolve;
  });

  /** A host that is killed cuts connections, so each command has one of its own, unless they are kept. */
  constructor(url: string, token: string, { keepsConnections = false }: { readonly keepsConnections?: boolean } = {}) {
    this.#url = url;
    this.#token = token;
    this.#more = keepsConnections ? {} : { connection: 'close' };
  }

  /** So many people begin; they wait for `open`. */
  begin(people: number): void {
    for (let person = 0; person < people; person += 1) void this.#work();
  }

  /** There is a host. */
  open(): void {
    this.#isOpen = true;
    this.#change();
  }

  /** No command is begun any more. */
  shut(): void {
    this.#isOpen = false;
  }

  end(): void {
    this.#hasEnded = true;
    this.#change();
  }

  /** Every command that was begun has its answer, or was cut. */
  async settled(): Promise<void> {
    while (this.#inFlight > 0) await this.#turn;
  }

  /** So many were acknowledged, or the people were shut out. */
  async reaches(count: number): Promise<void> {
    while (this.acknowledged.length < count && this.#isOpen) await this.#turn;
  }

  /** The answer, or undefined if there was none. */
  async post(key: string, command: object): Promise<Accepted | undefined> {
    this.#inFlight += 1;
    try {
      const response = await fetch(`${this.#url}/api/workroom/commands`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.#token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
          ...this.#more,
        },
        body: JSON.stringify(command),
      });
      const text = await response.text();
      if (response.status === 200) {
        const accepted = JSON.parse(text) as Accepted;
        this.acknowledged.push({ key, stream: accepted.stream, version: accepted.version });
        return accepted;
      }
      // Without power there is no storage, and many at one board may lose against each other.
      if (response.status !== 503) {
        this.faults.push(`${JSON.stringify(command)}: ${response.status} ${text}`);
        this.end();
      }
    } catch {
      // cut
    } finally {
      this.#inFlight -= 1;
      this.#change();
    }
    return undefined;
  }

  async #work(): Promise<void> {
    const first = await this.#until({ kind: 'new', board: 'web', title: 'An item' });
    if (first === undefined) return;
    const { item } = first;
    for (let turn = 1, isAnswered = true; isAnswered; turn += 1) {
      const command =
        turn % 2 === 0
          ? { kind: 'comment', item, text: `comment ${turn}` }
          : { kind: 'due', item, due: DUE_FROM + turn };
      isAnswered = (await this.#until(command)) !== undefined;
    }
  }

  /** One intention: the same key until it is answered. Undefined: the load has ended. */
  async #until(command: object): Promise<Accepted | undefined> {
    const key = randomUUID();
    while (!this.#hasEnded) {
      const answer = this.#isOpen ? await this.post(key, command) : undefined;
      if (answer !== undefined) return answer;
      if (!this.#isOpen) await this.#turn;
    }
    return undefined;
  }

  #change(): void {
    this.#turned();
    this.#turn = new Promise((resolve) => {
      this.#turned = resolve;
    });
  }
}
