// What an implementation of OneBot 11 knows and does: its actions on messages of a bot, as the specification and NapCat describe them.
export interface FakeFile {
  /** On the implementation's own machine. */
  readonly path: string;
  readonly name: string;
  readonly url?: string;
  readonly base64?: string;
}

export interface Piece {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Said {
  readonly message_id: number;
  readonly time: number;
  readonly user_id: number;
  readonly group_id?: number;
  /** In private: the other one. */
  readonly peer?: number;
  readonly message: readonly Piece[];
  readonly reactions: string[];
}

export interface Answer {
  readonly status: 'ok' | 'async' | 'failed';
  readonly retcode: number;
  readonly data: unknown;
  readonly message?: string;
  readonly wording?: string;
}

type Params = Readonly<Record<string, unknown>>;

const ok = (data: unknown): Answer => ({ status: 'ok', retcode: 0, data });
export const failed = (retcode: number, message: string): Answer => ({
  status: 'failed',
  retcode,
  data: null,
  message,
  wording: message,
});

export class Bot {
  readonly self: number;
  /** What is to be seen, of people and of the bot. */
  readonly messages: Said[] = [];
  readonly uploads: { readonly to: string; readonly name: string; readonly bytes: Buffer }[] = [];
  readonly files = new Map<string, FakeFile>();
  /** Actions that this implementation does not have. */
  readonly without = new Set<string>();
  /** How it says so: over HTTP 1404 is the status 404. */
  missing = (action: string): Answer => failed(1404, `不支持的Api ${action}`);
  /** As LLOneBot was for long: `set` is not looked at, and taking back is a call of its own, which others do not have. */
  isLikeOneWay = false;
  status: { online: boolean; good: boolean } = { online: true, good: true };
  #messageId = 1_000;

  constructor(self: number) {
    this.self = self;
  }

  /** What the bot has said, as one reads it. */
  texts(group?: number): readonly string[] {
    return this.messages
      .filter(({ user_id, group_id }) => user_id === this.self && (group === undefined || group_id === group))
      .map(({ message }) => message.map(shown).join(''));
  }

  say(
    message: unknown,
    where: { readonly user: number; readonly group?: number; readonly peer?: number; readonly time?: number },
  ): Said {
    const said: Said = {
      message_id: (this.#messageId += 1),
      time: where.time ?? Math.floor(Date.now() / 1_000),
      user_id: where.user,
      ...(where.group === undefined ? { peer: where.peer ?? where.user } : { group_id: where.group }),
      message: piecesOf(message),
      reactions: [],
    };
    this.messages.push(said);
    return said;
  }

  do(action: string, params: Params): Answer {
    const run = this.#actions[action];
    return run === undefined || this.without.has(action) ? this.missing(action) : run(params);
  }

  readonly #actions: Readonly<Record<string, (params: Params) => Answer>> = {
    get_login_info: () => ok({ user_id: this.self, nickname: 'bot' }),
    get_status: () => ok({ ...this.status, stat: {} }),
    get_version_info: () => ok({ app_name: 'Fake.Onebot', app_version: '1.0.0', protocol_version: 'v11' }),
    send_private_msg: (params) => this.#sent(params, { peer: Number(params['user_id']) }),
    send_group_msg: (params) => this.#sent(params, { group: Number(params['group_id']) }),
    send_msg: (params) =>
      'group_id' in params
        ? this.#sent(params, { group: Number(params['group_id']) })
        : this.#sent(params, { peer: Number(params['user_id']) }),
    delete_msg: (params) => {
      const at = this.messages.findIndex(({ message_id }) => message_id === Number(params['message_id']));
      if (at === -1) return failed(1200, '消息不存在');
      this.messages.splice(at, 1);
      return ok(null);
    },
    get_msg: (params) => this.#withMessage(params, (said) => ok(this.event(said))),
    set_msg_emoji_like: (params) =>
      this.#withMessage(params, ({ reactions }) => {
        const emoji = String(params['emoji_id']);
        if (params['set'] === false && !this.isLikeOneWay) reactions.splice(reactions.indexOf(emoji), 1);
        else reactions.push(emoji);
        return ok({ result: 0, errMsg: '' });
      }),
    unset_msg_emoji_like: (params) =>
      this.isLikeOneWay
        ? this.#withMessage(params, ({ reactions }) => {
            reactions.splice(reactions.indexOf(String(params['emoji_id'])), 1);
            return ok(null);
          })
        : this.missing('unset_msg_emoji_like'),
    // Of Lagrange, which has it in place of the one above.
    set_group_reaction: (params) =>
      this.#withMessage(params, ({ reactions }) => {
        reactions.push(`${String(params['code'])}${params['is_add'] === false ? ' off' : ''}`);
        return ok(null);
      }),
    get_recent_contact: () => ok(this.#contacts()),
    get_group_msg_history: (params) => this.#history(params, ({ group_id }) => group_id === Number(params['group_id'])),
    get_friend_msg_history: (params) => this.#history(params, ({ peer }) => peer === Number(params['user_id'])),
    get_image: (params) => this.#file(params['file']),
    get_record: (params) => this.#file(params['file']),
    get_file: (params) => this.#file(params['file_id'] ?? params['file']),
    get_group_file_url: (params) => this.#file(params['file_id']),
    get_private_file_url: (params) => this.#file(params['file_id']),
    upload_group_file: (params) => this.#uploaded(`group:${String(params['group_id'])}`, params),
    upload_private_file: (params) => this.#uploaded(`private:${String(params['user_id'])}`, params),
  };

  /** As it is reported, and as the history has it. */
  event(said: Said, format: 'array' | 'string' = 'array'): Params {
    const { message_id, time, user_id, group_id, message } = said;
    const raw = message.map(cqOf).join('');
    const isOwn = user_id === this.self;
    return {
      time,
      self_id: this.self,
      post_type: isOwn ? 'message_sent' : 'message',
      message_type: group_id === undefined ? 'private' : 'group',
      sub_type: group_id === undefined ? 'friend' : 'normal',
      message_id,
      message_seq: message_id,
      real_id: message_id,
      user_id,
      ...(group_id === undefined ? { target_id: said.peer } : { group_id }),
      message: format === 'array' ? message : raw,
      message_format: format,
      raw_message: raw,
      font: 14,
      sender: {
        user_id,
        nickname: isOwn ? 'bot' : `P${user_id}`,
        card: '',
        ...(group_id === undefined ? {} : { role: 'member' }),
      },
    };
  }

  #sent(params: Params, where: { readonly group?: number; readonly peer?: number }): Answer {
    const pieces = piecesOf(params['message']);
    if (pieces.length === 0) return failed(1400, '消息体无法解析');
    if (pieces.some(({ type }) => type === 'file') && this.without.has('file segment'))
      return failed(1200, '不支持的消息类型 file');
    return ok({ message_id: this.say(params['message'], { ...where, user: this.self }).message_id });
  }

  #withMessage(params: Params, run: (said: Said) => Answer): Answer {
    const said = this.messages.find(({ message_id }) => message_id === Number(params['message_id']));
    return said === undefined ? failed(1200, '消息不存在') : run(said);
  }

  #history(params: Params, isThere: (said: Said) => boolean): Answer {
    const found = this.messages.filter(isThere).slice(-Number(params['count'] ?? 20));
    return ok({ messages: found.map((said) => this.event(said)) });
  }

  /** As NapCat tells them, the newest message of each. */
  #contacts(): readonly Params[] {
    const newest = new Map(this.messages.map((said) => [`${said.group_id ?? 'p'}/${said.peer ?? ''}`, said]));
    return [...newest.values()].map((said) => ({
      peerUin: String(said.group_id ?? said.peer),
      chatType: said.group_id === undefined ? 1 : 2,
      msgTime: String(said.time),
      lastestMsg: this.event(said),
    }));
  }

  #file(name: unknown): Answer {
    const file = this.files.get(String(name));
    if (file === undefined) return failed(1200, 'file not found');
    return ok({
      file: file.path,
      file_name: file.name,
      file_size: '0',
      ...(file.url === undefined ? {} : { url: file.url }),
      ...(file.base64 === undefined ? {} : { base64: file.base64 }),
    });
  }

  #uploaded(to: string, params: Params): Answer {
    const file = String(params['file']);
    if (!file.startsWith('base64://')) return failed(1200, 'no such file');
    this.uploads.push({ to, name: String(params['name']), bytes: Buffer.from(file.slice(9), 'base64') });
    return ok(null);
  }
}

function piecesOf(message: unknown): readonly Piece[] {
  if (typeof message === 'string') return [{ type: 'text', data: { text: message } }];
  return (Array.isArray(message) ? message : [message]).filter(
    (one): one is Piece => typeof one === 'object' && one !== null && 'type' in one,
  );
}

const shown = ({ type, data }: Piece): string => (type === 'text' ? String(data['text']) : `[${type}]`);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('[', '&#91;').replaceAll(']', '&#93;');

function cqOf({ type, data }: Piece): string {
  if (type === 'text') return escaped(String(data['text']));
  const values = Object.entries(data).map(
    ([key, value]) => `,${key}=${escaped(String(value)).replaceAll(',', '&#44;')}`,
  );
  return `[CQ:${type}${values.join('')}]`;
}
