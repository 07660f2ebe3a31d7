// What is asked of the fake GitHub, and what lies there: issues and pull requests with their comments, discussions, reactions and webhooks, by repository.

export interface FakeComment {
  readonly id: number;
  readonly node_id: string;
  readonly kind: 'issue' | 'review' | 'discussion';
  readonly repository: string;
  /** Of its issue, pull request or discussion. */
  readonly number: number;
  readonly user: string;
  body: string;
  /** In a thread: the id of its first comment. */
  readonly root?: number;
  readonly created_at: string;
}
export interface FakeSubject {
  readonly repository: string;
  readonly number: number;
  readonly kind: 'issue' | 'pull' | 'discussion';
  readonly node_id: string;
  title: string;
  body: string;
  locked: boolean;
}
export interface FakeReaction {
  readonly id: number;
  /** Of what: `issues/7`, `issues/comments/1`, `pulls/comments/1`, or a node id. */
  readonly subject: string;
  readonly content: string;
  readonly user: string;
}
export interface FakeHook {
  readonly id: number;
  readonly repository: string;
  events: readonly string[];
  active: boolean;
  config: Readonly<Record<string, unknown>>;
}
export interface FakeDelivery {
  /** GitHub's own have up to 19 digits: more than a number of JavaScript holds. */
  readonly id: number | bigint;
  readonly hook: number;
  readonly guid: string;
  readonly delivered_at: string;
  readonly status_code: number;
  readonly event: string;
}

const FIRST_ID = 1_000;

export class GithubData {
  readonly subjects: FakeSubject[] = [];
  readonly comments: FakeComment[] = [];
  readonly reactions: FakeReaction[] = [];
  readonly hooks: FakeHook[] = [];
  readonly deliveries: FakeDelivery[] = [];
  /** Ids of deliveries that were asked for again. */
  readonly redelivered: (number | bigint)[] = [];
  /** What such an attempt ends with, by the id of what is delivered; without it none is made. */
  reach: ((guid: string) => number) | undefined;
  /** What an answer to GET /user says of its token. */
  tokenHeaders: Readonly<Record<string, string>> = { 'x-oauth-scopes': 'repo, admin:repo_hook' };
  /** Repositories that the token may not see, and those that are archived. */
  readonly hidden = new Set<string>();
  readonly archived = new Set<string>();
  #ids = FIRST_ID;

  nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  open(repository: string, number: number, kind: FakeSubject['kind'] = 'issue'): FakeSubject {
    const subject = { repository, number, kind, node_id: `S_${number}`, title: 'Title', body: 'Body', locked: false };
    this.subjects.push(subject);
    return subject;
  }

  subject(repository: string, number: number): FakeSubject | undefined {
    return this.subjects.find((one) => one.repository === repository && one.number === number);
  }

  comment(of: Omit<FakeComment, 'id' | 'node_id' | 'created_at'>): FakeComment {
    const id = this.nextId();
    const comment = { ...of, id, node_id: `C_${id}`, created_at: new Date().toISOString() };
    this.comments.push(comment);
    return comment;
  }

  remove(comment: FakeComment): void {
    this.comments.splice(this.comments.indexOf(comment), 1);
  }

  /** Texts that stand there, without marks, oldest first. */
  shown(repository: string, number: number): string[] {
    return this.comments
      .filter((one) => one.repository === repository && one.number === number)
      .map(({ body }) => body.replaceAll(/\s*<!-- svc .*? -->/g, ''));
  }
}

export interface GithubAnswer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
export interface GithubRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly json: Readonly<Record<string, unknown>>;
  /** Whose token it came with. */
  readonly login: string;
  readonly data: GithubData;
}

const DOCUMENTATION = 'https://docs.github.com/rest';

export const problem = (message: string, status: number): object => ({
  message,
  documentation_url: DOCUMENTATION,
  status: String(status),
});
