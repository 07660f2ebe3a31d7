// An adapter of an imaginary platform over HTTP, sound but for one fault; and that platform.
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AdapterModule,
  type Arrival,
  accountFailed,
  defineAdapter,
  type HttpAnswer,
  type Link,
  type Outgoing,
  parse,
  type RawRequest,
  readJson,
  type SendResult,
  sendResult,
  t,
  type Values,
  verifyHmac,
} from 'svc';

/** What is wrong with it; each name says what it does. */
export type Fault =
  | 'is-sound'
  | 'is-sound-and-catches-up'
  | 'is-sound-and-hears-nothing'
  | 'is-sound-and-catches-up-for-long'
  | 'is-sound-and-changes'
  | 'edits-nothing'
  | 'edits-with-the-old-text'
  | 'refuses-an-edit-that-changes-nothing'
  | 'reacts-to-take-it-back'
  | 'removes-nothing'
  | 'waits-for-what-is-gone'
  | 'throws-at-429-of-a-change'
  | 'refuses-at-401-of-a-change'
  | 'stores-no-message'
  | 'makes-up-ids'
  | 'verifies-nothing'
  | 'stores-its-own-deliveries'
  | 'reverses-a-delivery'
  | 'drops-what-it-has-seen'
  | 'numbers-in-memory'
  | 'ignores-the-key'
  | 'throws-at-429'
  | 'refuses-the-second-that-has-to-wait'
  | 'refuses-at-401'
  | 'refuses-at-503'
  | 'numbers-its-messages'
  | 'throws-at-what-it-cannot'
  | 'names-a-limit-that-is-too-high'
  | 'cuts-the-text'
  | 'knows-keys-by-heart'
  | 'brings-its-own'
  | 'tells-no-cursor'
  | 'waits-with-a-refused-token'
  | 'fails-the-account-when-cut'
  | 'is-silent-when-cut'
  | 'moves-its-cursor-first'
  | 'goes-on-behind-what-is-not-stored'
  | 'knows-deliveries-of-all-accounts'
  | 'knows-keys-of-all-accounts'
  | 'hears-for-all-accounts'
  | 'fails-all-accounts'
  | 'has-faults-without-remedy'
  | 'tells-its-token'
  | 'tells-its-token-when-it-connects'
  | 'throws-its-token-when-it-is-refused'
  | 'goes-on-when-it-is-told-to-end'
  | 'has-an-address-all-the-same'
  | 'is-sound-without-http'
  | 'is-sound-without-http-and-throws-at-its-end'
  | 'throws-when-it-has-to-wait'
  | 'says-sent-when-it-is-refused'
  | 'goes-on-with-a-refused-token'
  | 'forgets-to-wait-with-a-change';

/** Those whose platform is reached over their connection alone. */
export const WITHOUT_HTTP: ReadonlySet<Fault> = new Set([
  'is-sound-without-http',
  'is-sound-without-http-and-throws-at-its-end',
  'throws-when-it-has-to-wait',
  'says-sent-when-it-is-refused',
  'goes-on-with-a-refused-token',
  'forgets-to-wait-with-a-change',
]);

/** Those that can edit, react and remove. */
export const CHANGES: ReadonlySet<Fault> = new Set([
  ...WITHOUT_HTTP,
  'is-sound-and-changes',
  'edits-nothing',
  'edits-with-the-old-text',
  'refuses-an-edit-that-changes-nothing',
  'reacts-to-take-it-back',
  'removes-nothing',
  'waits-for-what-is-gone',
  'throws-at-429-of-a-change',
  'refuses-at-401-of-a-change',
]);

export const TOKEN = 'token-of-the-imaginary-platform';
export const SIGNING = 'what-its-deliveries-are-signed-with';
const MOST = 100;

const account = { url: t.string(), token: t.secret(), signing: t.secret() };
type Account = Values<typeof account>;
const event = t.object({ id: t.string(), room: t.string(), from: t.string(), text: t.string() });
const events = t.object({ events: t.array(event) });
type Change = Exclude<Outgoing, { readonly kind: 'typing' }>;
type Said = Values<typeof event.properties>;

export const US = 'us';
export const said = (id: string, from = 'ann'): Said => ({ id, room: 'room', from, text: `text of ${id}` });
/** The second one is its own. */
export const HISTORY = [said('h1'), said('h2', US), said('h3'), said('h4')];

/** What a faulty one keeps where all accounts of the process see it; a test begins without. */
export const everywhere = { seen: new Set<string>(), keys: new Map<string, SendResult>(), failed: false };

/** The platform that has no HTTP: what it was sent, how long it asks to wait, and whether it refuses the next. */
export const wire = { taken: [] as string[], waitMs: undefined as number | undefined, refuses: false };

export function faultyAdapter(fault: Fault): AdapterModule {
  const has = (...faults: readonly Fault[]): boolean => faults.includes(fault);
  const canChange = CHANGES.has(fault);
  const memory = new WeakMap<Account, { readonly ids: Map<string, string>; readonly keys: Map<string, SendResult> }>();
  const memoryOf = (of: Account) => {
    const known = memory.get(of) ?? { ids: new Map<string, string>(), keys: new Map<string, SendResult>() };
    memory.set(of, known);
    return known;
  };

  /** Accounts that have to wait. */
  const told = new WeakSet<Account>();

  const arrival = ({ id, room, from, text }: Said): Arrival => ({
    id: has('makes-up-ids') ? `${id}-${randomUUID()}` : id,
    conversation: { id: room, kind: 'group' },
    user: { id: from, name: from, admin: false, self: from === US },
    sentAt: 0,
    ...(has('stores-no-message') ? { kind: 'other', type: 'said', raw: {} } : { kind: 'message', message: id, text }),
  });
  const heard = (one: Said): Arrival => {
    const made = arrival(one);
    return has('brings-its-own') ? { ...made, user: { ...made.user, self: false } } : made;
  };

  function delivered({ body }: RawRequest, of: Account): readonly Arrival[] {
    const found = parse(events, JSON.parse(Buffer.from(body).toString())).events.map(arrival);
    if (has('stores-its-own-deliveries')) return found.map((one) => ({ ...one, user: { ...one.user, self: false } }));
    if (has('reverses-a-delivery')) return found.toReversed();
    const { ids } = memoryOf(of);
    if (has('numbers-in-memory'))
      return found.map((one) => {
        const id = ids.get(one.id) ?? String(ids.size);
        ids.set(one.id, id);
        return { ...one, id };
      });
    if (has('drops-what-it-has-seen')) return found.filter(({ id }) => !ids.has(id) && ids.set(id, id));
    if (has('knows-deliveries-of-all-accounts'))
      return found.filter(({ id }) => !everywhere.seen.has(id) && everywhere.seen.add(id));
    return found;
  }

  const call = (
    { account: { url, token }, signal }: Pick<Link<Account>, 'account' | 'signal'>,
    path: string,
    json?: object,
  ) =>
    fetch(new URL(path, url), {
      signal,
      headers: { authorization: `Bearer ${token.reveal()}` },
      ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
    });
  const next = async (link: Link<Account>): Promise<readonly Said[]> =>
    (await readJson(await call(link, `/events?after=${link.cursor ?? ''}`), events)).events;

  async function connect(link: Link<Account>): Promise<void> {
    try {
      await hear(link);
    } finally {
      // Wherever the end finds it: in a request, between two, or while it hands over.
      if (link.signal.aborted && has('goes-on-when-it-is-told-to-end')) await new Promise(() => {});
    }
  }

  async function hear(link: Link<Account>): Promise<void> {
    if (has('tells-its-token-when-it-connects')) link.log.info(`as ${link.account.token.reveal()}`);
    for (let isOnline = false; !link.signal.aborted; ) {
      let found: readonly Said[];
      try {
        found = await next(link);
      } catch (error) {
        if (link.signal.aborted) return;
        const isRefused = (error as { readonly code?: unknown }).code === 'account_failed';
        if (isRefused && has('throws-its-token-when-it-is-refused'))
          throw accountFailed(`${link.account.token.reveal()} is refused`, 'take another');
        if (isRefused) throw has('waits-with-a-refused-token') ? new Error('not now') : error;
        if (has('fails-the-account-when-cut')) throw accountFailed('the platform is gone', 'wait for it');
        if (!has('is-silent-when-cut')) throw error;
        return new Promise((resolve) => link.signal.addEventListener('abort', () => resolve()));
      }
      if (!isOnline) link.online();
      isOnline = true;
      const first = has('hears-for-all-accounts') ? found.find(({ id }) => !everywhere.seen.has(id)) : found[0];
      everywhere.seen.add(first?.id ?? '');
      if (first === undefined) await sleep(5);
      else if (has('moves-its-cursor-first')) {
        await link.receive([], first.id);
        await link.receive([heard(first)]);
      } else if (has('goes-on-behind-what-is-not-stored')) {
        for (const one of found) void link.receive([heard(one)], one.id).catch(() => {});
      } else await link.receive([heard(first)], first.id);
    }
  }

  async function catchUp(link: Link<Account>): Promise<void> {
    for (const one of await next(link)) await link.receive([heard(one)], has('tells-no-cursor') ? undefined : one.id);
  }

  /** Without HTTP: all comes at once, and what is caught up with is cut off with the connection. */
  const ends = new Map<string, Promise<void>>();
  async function connectForLong(link: Link<Account>): Promise<void> {
    if (link.account.token.reveal() !== TOKEN && !has('goes-on-with-a-refused-token'))
      throw accountFailed('the token is wrong', 'take the other one');
    const closed = new Promise<void>((resolve) => link.signal.addEventListener('abort', () => resolve()));
    const end = closed.then(() => Promise.reject(new Error('the connection is over')));
    end.catch(() => {});
    ends.set(link.endpoint, end);
    link.online();
    for (const one of HISTORY) await link.receive([heard(one)], one.id);
    await end.catch(() => sleep(5));
    if (has('is-sound-without-http-and-throws-at-its-end')) link.signal.throwIfAborted();
  }
  async function catchUpForLong(link: Link<Account>): Promise<void> {
    await Promise.race([ends.get(link.endpoint), sleep(30)]);
    await link.receive([], HISTORY.at(-1)?.id);
  }

  async function change(out: Change, link: Link<Account>): Promise<SendResult> {
    if (has('edits-nothing') && out.kind === 'edit') return { kind: 'sent' };
    if (has('removes-nothing') && out.kind === 'remove') return { kind: 'sent' };
    const { kind, message = '' } = out;
    const text = out.kind === 'edit' && !has('edits-with-the-old-text') ? { text: out.text } : {};
    const on = out.kind === 'react' ? { emoji: out.emoji, on: out.on || has('reacts-to-take-it-back') } : {};
    const response = await call(link, `/messages/${message}`, { kind, ...text, ...on });
    if (response.status === 304 && !has('refuses-an-edit-that-changes-nothing')) return { kind: 'sent' };
    if (response.status === 404)
      return has('waits-for-what-is-gone') ? { kind: 'later', afterMs: 1 } : { kind: 'sent' };
    if (response.status === 429 && has('throws-at-429-of-a-change')) throw new Error('too much');
    if (response.status === 401 && has('refuses-at-401-of-a-change')) return { kind: 'refused', reason: '401' };
    return sendResult(response);
  }

  /** The key is what a repeat is known by. */
  function overWire(out: Outgoing): SendResult {
    if (out.kind === 'typing') return { kind: 'refused', reason: 'there is no typing here' };
    const isPost = out.kind === 'post';
    if (wire.waitMs !== undefined && !(has('forgets-to-wait-with-a-change') && !isPost)) {
      if (has('throws-when-it-has-to-wait')) throw new Error('too much');
      return { kind: 'later', afterMs: wire.waitMs };
    }
    if (wire.refuses) {
      wire.refuses = false;
      if (!has('says-sent-when-it-is-refused')) return { kind: 'refused', reason: 'not here' };
    }
    wire.taken.push(JSON.stringify(out));
    return { kind: 'sent', message: (isPost ? out.key : out.message) ?? '' };
  }

  async function send(out: Outgoing, link: Link<Account>): Promise<SendResult> {
    if (WITHOUT_HTTP.has(fault)) return overWire(out);
    if (canChange && out.kind !== 'post' && out.kind !== 'typing') return change(out, link);
    if (out.kind !== 'post') {
      if (has('throws-at-what-it-cannot')) throw new Error('what is that?');
      return { kind: 'refused', reason: `there is no ${out.kind} here` };
    }
    if (has('is-sound-and-catches-up-for-long')) return { kind: 'sent', message: out.key };
    if (everywhere.failed) throw accountFailed('it was refused before', 'start anew');
    const keys = has('knows-keys-of-all-accounts') ? everywhere.keys : memoryOf(link.account).keys;
    const isByHeart = has('knows-keys-by-heart', 'knows-keys-of-all-accounts');
    const known = isByHeart ? keys.get(out.key) : undefined;
    if (known !== undefined) return known;
    const key = has('ignores-the-key') || isByHeart ? {} : { key: out.key };
    const text = has('cuts-the-text') ? out.text.slice(0, MOST / 2) : out.text;
    const response = await call(link, '/messages', { ...key, room: out.conversation, text });
    if (response.status === 429 && has('throws-at-429')) throw new Error('too much');
    if (response.status === 429 && has('refuses-the-second-that-has-to-wait')) {
      if (told.has(link.account)) return { kind: 'refused', reason: '429' };
      told.add(link.account);
    }
    if (response.status === 503 && has('refuses-at-503')) return { kind: 'refused', reason: '503' };
    if (response.status === 401 && has('refuses-at-401')) return { kind: 'refused', reason: '401' };
    if (response.status === 401 && has('fails-all-accounts')) everywhere.failed = true;
    if (response.status === 400 && has('tells-its-token'))
      return { kind: 'refused', reason: `400 for ${link.account.token.reveal()}` };
    const result = await sendResult(response, (json) => {
      const { id } = parse(t.object({ id: t.string() }), json);
      return has('numbers-its-messages') ? (id.length as never) : id;
    });
    if (isByHeart && result.kind === 'sent') keys.set(out.key, result);
    return result;
  }

  return defineAdapter({
    name: fault,
    account,
    can: {
      text: { limit: has('names-a-limit-that-is-too-high') ? MOST + 50 : MOST, unit: 'utf16', render: 'plain' },
      idempotent: true,
      ...(canChange ? { edit: true, react: true, remove: true } : {}),
    },
    webhook: {
      verify: (request, { signing }) =>
        has('verifies-nothing')
          ? { kind: 'ok' }
          : verifyHmac(request, {
              signature: request.headers['signature'],
              secrets: [signing],
              at: request.receivedAt,
              signed: Buffer.from(request.body),
            }),
      parse: delivered,
    },
    ...(has('is-sound-and-catches-up-for-long') || WITHOUT_HTTP.has(fault)
      ? { connect: connectForLong, catchUp: catchUpForLong }
      : has('is-sound-and-catches-up', 'tells-no-cursor')
        ? { catchUp }
        : { connect }),
    send,
    async *check() {
      yield has('has-faults-without-remedy')
        ? { name: 'token', status: 'error', detail: 'refused' }
        : { name: 'token', status: 'ok', detail: 'good' };
    },
  });
}

interface Call {
  readonly key?: string;
  readonly kind?: 'edit' | 'react' | 'remove';
  readonly text?: string;
}

/** The platform of one test: messages by their key, and nothing over its limit. */
export function imaginaryPlatform(history = HISTORY): (request: RawRequest) => HttpAnswer {
  const messages = new Map<string, string>();
  const texts = new Map<string, string>();
  let count = 0;
  return ({ method, path, query, body }) => {
    if (method === 'GET')
      return { json: { events: history.slice(history.findIndex(({ id }) => id === query['after']) + 1) } };
    const { key, kind, text = '' } = JSON.parse(Buffer.from(body).toString()) as Call;
    const changed = path.split('/')[2];
    if (changed !== undefined) {
      if (!texts.has(changed)) return { status: 404 };
      if (kind === 'remove') texts.delete(changed);
      if (kind !== 'edit') return { status: 200 };
      if (texts.get(changed) === text) return { status: 304 };
      texts.set(changed, text);
      return { status: 200 };
    }
    if (text.length > MOST) return { status: 400 };
    const id = messages.get(key ?? '') ?? `m${(count += 1)}`;
    if (key !== undefined) messages.set(key, id);
    texts.set(id, text);
    return { status: 201, json: { id } };
  };
}

export function delivery(...of: readonly Said[]): RawRequest {
  const body = Buffer.from(JSON.stringify({ events: of }));
  const signature = createHmac('sha256', SIGNING).update(body).digest('hex');
  return { method: 'POST', path: '', query: {}, headers: { signature }, body, receivedAt: 0 };
}
