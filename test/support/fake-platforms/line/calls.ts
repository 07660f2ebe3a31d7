// What the Messaging API answers, by its reference and its OpenAPI document (line/line-openapi), over people and messages in memory.
import { randomInt } from 'node:crypto';

export interface LineMessage {
  readonly id: string;
  readonly to: string;
  readonly type: string;
  /** As it was sent. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly quoteToken: string;
}

export interface LineReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json: object;
}
type Message = Readonly<Record<string, unknown>>;

const ok = (json: object = {}, status = 200): LineReply => ({ status, json });
const refuse = (message: string, details?: object): LineReply => ({
  status: 400,
  json: { message, ...(details === undefined ? {} : { details: [details] }) },
});
const invalid = (property: string, message: string): LineReply =>
  refuse('The request body has 1 error(s)', { message, property });

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export class LineChannel {
  readonly bot = `U${'b0'.repeat(16)}`;
  /** What was shown, in order. */
  readonly messages: LineMessage[] = [];
  readonly names = new Map<string, string>();
  /** Groups and rooms by their members. */
  readonly groups = new Map<string, readonly string[]>();
  /** Where the loading animation was shown. */
  readonly loading: string[] = [];
  /** Pushes that the plan still has. */
  quota = Number.POSITIVE_INFINITY;
  #used = 0;
  webhook: { endpoint: string; active: boolean } | undefined;
  readonly #accepted = new Map<string, { readonly request: string; readonly sentMessages: readonly object[] }>();
  readonly #quotable = new Map<string, string>();
  #ids = 461_230_966_842_064_000n;

  /** An id for a message, and the token by which it is quoted in its chat. */
  mint(chat: string): { readonly id: string; readonly quoteToken: string } {
    this.#ids += BigInt(randomInt(1, 99));
    const quoteToken = `q${this.#ids}-${chat.slice(-4)}`;
    this.#quotable.set(quoteToken, chat);
    return { id: String(this.#ids), quoteToken };
  }

  /** Undefined: this is no endpoint of the API. */
  answer(
    route: string,
    body: Message,
    { retryKey, request }: { readonly retryKey: string | undefined; readonly request: string },
  ): LineReply | undefined {
    const [, userId] = /^GET \/v2\/bot\/profile\/(\w+)$/.exec(route) ?? [];
    if (userId !== undefined) return this.#profile(userId);
    switch (route) {
      case 'GET /v2/bot/info':
        return ok({
          userId: this.bot,
          basicId: '@216ru...',
          displayName: 'svc',
          chatMode: 'bot',
          markAsReadMode: 'auto',
        });
      case 'POST /v2/bot/message/push':
        return this.#push(body, { retryKey, request });
      case 'GET /v2/bot/message/quota':
        return ok(Number.isFinite(this.quota) ? { type: 'limited', value: this.quota + this.#used } : { type: 'none' });
      case 'GET /v2/bot/message/quota/consumption':
        return ok({ totalUsage: this.#used });
      case 'POST /v2/bot/chat/loading/start':
        return this.#load(body);
      case 'GET /v2/bot/channel/webhook/endpoint':
        return this.webhook === undefined
          ? { status: 404, json: { message: 'Webhook endpoint not found' } }
          : ok(this.webhook);
      case 'PUT /v2/bot/channel/webhook/endpoint': {
        const endpoint = String(body['endpoint'] ?? '');
        if (!endpoint.startsWith('https://') || endpoint.length > 500) return refuse('Invalid webhook endpoint URL');
        this.webhook = { endpoint, active: this.webhook?.active ?? true };
        return ok();
      }
      default:
        return undefined;
    }
  }

  #profile(userId: string): LineReply {
    const displayName = this.names.get(userId);
    return displayName === undefined
      ? { status: 404, json: { message: 'Not found' } }
      : ok({ userId, displayName, language: 'en' });
  }

  #load({ chatId, loadingSeconds = 20 }: Message): LineReply {
    if (!/^U[0-9a-f]{32}$/.test(String(chatId))) return invalid('chatId', 'Must be a user ID');
    if (Number(loadingSeconds) % 5 !== 0 || Number(loadingSeconds) > 60)
      return invalid('loadingSeconds', 'Must be a multiple of 5');
    this.loading.push(String(chatId));
    return ok({}, 202);
  }

  #push(
    body: Message,
    { retryKey, request }: { readonly retryKey: string | undefined; readonly request: string },
  ): LineReply {
    if (retryKey !== undefined && !UUID.test(retryKey)) return refuse('Invalid retry key');
    const before = retryKey === undefined ? undefined : this.#accepted.get(retryKey);
    if (before !== undefined)
      return {
        status: 409,
        headers: { 'x-line-accepted-request-id': before.request },
        json: { message: 'The retry key is already accepted', sentMessages: before.sentMessages },
      };
    const to = String(body['to']);
    const messages = body['messages'];
    if (!/^[UCR][0-9a-f]{32}$/.test(to))
      return refuse("The property, 'to', in the request body is invalid (line: -, column: -)");
    if (!Array.isArray(messages) || messages.length === 0 || messages.length > 5)
      return invalid('messages', 'Size must be between 1 and 5');
    const faults = (messages as Message[]).map((message, i) => this.#faultOf(message, { at: `messages[${i}]`, to }));
    const fault = faults.find((one) => one !== undefined);
    if (fault !== undefined) return fault;
    if (this.quota < 1) return { status: 429, json: { message: 'You have reached your monthly limit.' } };
    this.quota -= 1;
    this.#used += 1;
    const sentMessages = (messages as Message[]).map((content) => {
      const { id, quoteToken } = this.mint(to);
      this.messages.push({ id, to, type: String(content['type']), content, quoteToken });
      return { id, quoteToken };
    });
    if (retryKey !== undefined) this.#accepted.set(retryKey, { request, sentMessages });
    return ok({ sentMessages });
  }

  #faultOf(message: Message, { at, to }: { readonly at: string; readonly to: string }): LineReply | undefined {
    const { type, text, quoteToken } = message;
    if (quoteToken !== undefined && this.#quotable.get(String(quoteToken)) !== to)
      return refuse('The quote token is invalid');
    if (type === 'flex') return flexFault(message, at);
    if (type === 'image') return imageFault(message, at);
    if (type !== 'text' && type !== 'textV2')
      return invalid(`${at}/type`, `Must be one of the following values: [text, textV2, flex, image]`);
    if (typeof text !== 'string' || text.trim() === '') return invalid(`${at}/text`, 'May not be empty');
    if (text.length > 5_000) return invalid(`${at}/text`, 'Length must be between 0 and 5000');
    return type === 'textV2' ? this.#substitutionFault(message, { at, to }) : undefined;
  }

  /** Braces are doubled or name a substitution; mentions stand in groups, of those who are there. */
  #substitutionFault(
    { text, substitution = {} }: Message,
    { at, to }: { readonly at: string; readonly to: string },
  ): LineReply | undefined {
    const known = substitution as Readonly<
      Record<string, { readonly mentionee?: { readonly type: string; readonly userId?: string } }>
    >;
    const left = String(text)
      .replace(/\{\{|\}\}/g, '')
      .replace(/\{(\w{1,20})\}/g, (whole, key: string) => (key in known ? '' : whole));
    if (/[{}]/.test(left)) return invalid(`${at}/text`, 'The substitution key is invalid');
    if (Object.keys(known).length > 20) return invalid(`${at}/substitution`, 'Too many mentions');
    const members = this.groups.get(to);
    const isFine = Object.values(known).every(
      ({ mentionee }) =>
        members !== undefined && (mentionee?.type === 'all' || members.includes(mentionee?.userId ?? '')),
    );
    return isFine ? undefined : invalid(`${at}/substitution`, 'The mentioned user is not in the chat');
  }
}

/** Both are addresses over TLS of at most 2,000 characters. */
function imageFault(message: Message, at: string): LineReply | undefined {
  const bad = ['originalContentUrl', 'previewImageUrl'].find(
    (key) => !String(message[key]).startsWith('https://') || String(message[key]).length > 2_000,
  );
  return bad === undefined ? undefined : invalid(`${at}/${bad}`, 'Invalid HTTPS URL');
}

function flexFault({ altText, contents }: Message, at: string): LineReply | undefined {
  if (typeof altText !== 'string' || altText === '' || altText.length > 400)
    return invalid(`${at}/altText`, 'Length must be between 1 and 400');
  const { type, body } = contents as {
    readonly type?: string;
    readonly body?: { readonly contents?: readonly Message[] };
  };
  if (type !== 'bubble' || JSON.stringify(contents).length > 30_720) return invalid(`${at}/contents`, 'Invalid bubble');
  for (const one of body?.contents ?? []) {
    const { label, data } = (one['action'] ?? {}) as { readonly label?: string; readonly data?: string };
    if (label === undefined || label === '' || label.length > 40) return invalid(`${at}/contents`, 'Invalid label');
    if (data === undefined || data.length > 300) return invalid(`${at}/contents`, 'Invalid data');
  }
  return undefined;
}
