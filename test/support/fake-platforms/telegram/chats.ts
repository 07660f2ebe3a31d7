// Chats of the fake Bot API server: what people see in them, and the rules by which Telegram refuses a message.
import { fileIn, type Params, readHtml, TelegramRefusal } from './calls.ts';

export interface ShownMessage {
  readonly message_id: number;
  readonly from: number;
  readonly text: string;
  /** As it was sent. */
  readonly html: string;
  readonly file?: string;
  readonly thread?: number;
  readonly replyTo?: number;
  readonly buttons: readonly { readonly text: string; readonly callback_data: string }[];
  readonly reactions: readonly string[];
}
type Me = Readonly<Record<string, unknown>> & { readonly id: number };

const MOST_TEXT = 4_096;
const MOST_CAPTION = 1_024;

export class TelegramChats {
  /** Chats that refuse the bot, and as what. */
  readonly closed = new Map<number, TelegramRefusal>();
  readonly commands: Params[] = [];
  /** Of every group. */
  readonly administrators: number[] = [];
  readonly answered: string[] = [];
  readonly #chats = new Map<number, ShownMessage[]>();
  readonly #files = new Map<string, Buffer>();
  readonly #kinds = new Map<string, string>();
  #nextMessage = 1;
  #nextFile = 1;

  messages(chat: number): readonly ShownMessage[] {
    return this.#chats.get(chat) ?? [];
  }

  fileAt(path: string): Buffer | undefined {
    return this.#files.get(path.replace(/^documents\//, ''));
  }

  /** A file that somebody sent, as what (`video`): by its id it is sent as that alone. Gives its file_id. */
  holds(bytes: Buffer, kind?: string): string {
    const id = `AgACAgIAAxk_${this.#nextFile}`;
    if (kind !== undefined) this.#kinds.set(id, kind);
    this.#nextFile += 1;
    this.#files.set(id, bytes);
    return id;
  }

  call(method: string, params: Params, me: Me): unknown {
    switch (method) {
      case 'sendMessage':
        return this.#add(params, me, { text: params['text'], most: MOST_TEXT });
      case 'sendDocument':
      case 'sendPhoto':
      case 'sendVideo':
      case 'sendAudio':
      case 'sendVoice': {
        const kind = method.slice(4).toLowerCase();
        const file = this.#sentAs(params[kind], kind);
        return this.#add(params, me, { text: params['caption'] ?? '', most: MOST_CAPTION, file });
      }
      case 'sendMediaGroup': {
        const media = (params['media'] as readonly Params[]).map((one) => ({
          text: one['caption'] ?? '',
          file: this.#sentAs(one['media'], String(one['type'])),
        }));
        const plain = { ...params, reply_markup: undefined }; // an album has no buttons: the parameter is not known
        return media.map((one) => this.#add(plain, me, { ...one, most: MOST_CAPTION }));
      }
      case 'editMessageText':
        return this.#edit(params, params['text'], MOST_TEXT);
      case 'editMessageCaption':
        return this.#edit(params, params['caption'], MOST_CAPTION);
      case 'deleteMessage':
        return this.#remove(params);
      case 'setMessageReaction':
        return this.#react(params);
      case 'answerCallbackQuery':
        this.answered.push(String(params['callback_query_id']));
        return true;
      case 'setMyCommands':
        this.commands.push(params);
        return true;
      case 'sendChatAction':
        this.#room(params);
        return true;
      case 'getChatAdministrators':
        this.#room(params);
        return this.administrators.map((id) => ({
          status: 'administrator',
          user: { id, is_bot: false, first_name: 'x' },
        }));
      case 'getFile':
        return this.#fileOf(String(params['file_id']));
      default:
        throw new TelegramRefusal(404, 'Not Found: method not found');
    }
  }

  #room(params: Params): ShownMessage[] {
    const id = Number(params['chat_id']);
    const refusal = this.closed.get(id);
    if (refusal !== undefined) throw refusal;
    if (!Number.isInteger(id) || id === 0) throw new TelegramRefusal(400, 'Bad Request: chat not found');
    let room = this.#chats.get(id);
    if (room === undefined) this.#chats.set(id, (room = []));
    return room;
  }

  #add(
    params: Params,
    me: Me,
    { text, most, file }: { readonly text: unknown; readonly most: number; readonly file?: unknown },
  ): object {
    const room = this.#room(params);
    const html = String(text ?? '');
    const shown = readText(html, params, most);
    if (shown.trim() === '' && file === undefined) throw new TelegramRefusal(400, 'Bad Request: message text is empty');
    const reply = params['reply_parameters'] as { readonly message_id: number } | undefined;
    const message: ShownMessage = {
      message_id: this.#nextMessage,
      from: me.id,
      text: shown,
      html,
      buttons: buttonsIn(params),
      reactions: [],
      ...(file === undefined ? {} : { file: this.#keep(file, params) }),
      ...(params['message_thread_id'] === undefined ? {} : { thread: Number(params['message_thread_id']) }),
      ...(reply === undefined ? {} : { replyTo: reply.message_id }),
    };
    this.#nextMessage += 1;
    room.push(message);
    return { message_id: message.message_id, from: me, chat: chatOf(params), date: 1_767_225_600, text: shown };
  }

  #sentAs(file: unknown, kind: string): unknown {
    const known = typeof file === 'string' ? this.#kinds.get(file) : undefined;
    if (known !== undefined && known !== kind) throw new TelegramRefusal(400, 'Bad Request: type of file mismatch');
    return file;
  }

  #keep(file: unknown, params: Params): string {
    const given = fileIn(file, params);
    if (typeof given !== 'string') return `${given.name}: ${given.bytes.toString()}`;
    if (!this.#files.has(given))
      throw new TelegramRefusal(400, 'Bad Request: wrong file identifier/HTTP URL specified');
    return given;
  }

  #find(
    params: Params,
    verb: string,
  ): { readonly room: ShownMessage[]; readonly at: number; readonly old: ShownMessage } {
    const room = this.#room(params);
    const at = room.findIndex(({ message_id }) => message_id === Number(params['message_id']));
    const old = room[at];
    if (old === undefined) throw new TelegramRefusal(400, `Bad Request: message to ${verb} not found`);
    return { room, at, old };
  }

  #edit(params: Params, given: unknown, most: number): object {
    const { room, at, old } = this.#find(params, 'edit');
    const isText = most === MOST_TEXT;
    if (isText !== (old.file === undefined))
      throw new TelegramRefusal(400, `Bad Request: there is no ${isText ? 'text' : 'caption'} in the message to edit`);
    const html = String(given ?? '');
    const next = { ...old, html, text: readText(html, params, most), buttons: buttonsIn(params) };
    if (isText && next.text.trim() === '') throw new TelegramRefusal(400, 'Bad Request: message text is empty');
    if (JSON.stringify(next) === JSON.stringify(old))
      throw new TelegramRefusal(
        400,
        'Bad Request: message is not modified: specified new message content and reply markup are exactly the same',
      );
    room[at] = next;
    return { message_id: old.message_id, chat: chatOf(params), date: 1_767_225_600, text: next.text };
  }

  #remove(params: Params): true {
    const { room, at } = this.#find(params, 'delete');
    room.splice(at, 1);
    return true;
  }

  #react(params: Params): true {
    const { room, at, old } = this.#find(params, 'react');
    const given = (params['reaction'] ?? []) as readonly {
      readonly emoji?: string;
      readonly custom_emoji_id?: string;
    }[];
    const emoji = given.map((one) => one.emoji ?? `custom:${one.custom_emoji_id}`);
    if (emoji.some((one) => !['👍', '👎', '❤', '🔥', 'custom:5368324170671202286'].includes(one)))
      throw new TelegramRefusal(400, 'Bad Request: REACTION_INVALID');
    room[at] = { ...old, reactions: emoji };
    return true;
  }

  #fileOf(id: string): object {
    const bytes = this.#files.get(id);
    if (bytes === undefined)
      throw new TelegramRefusal(400, 'Bad Request: wrong file_id or the file is temporarily unavailable');
    return { file_id: id, file_unique_id: id, file_size: bytes.length, file_path: `documents/${id}` };
  }
}

const chatOf = (params: Params): object => ({ id: Number(params['chat_id']), type: 'private', first_name: 'x' });

function readText(html: string, params: Params, most: number): string {
  const text = params['parse_mode'] === 'HTML' ? readHtml(html) : html;
  if (text.length > most)
    throw new TelegramRefusal(400, `Bad Request: ${most === MOST_TEXT ? 'message' : 'message caption'} is too long`);
  return text;
}

function buttonsIn(params: Params): ShownMessage['buttons'] {
  const { inline_keyboard: rows = [] } = (params['reply_markup'] ?? {}) as {
    readonly inline_keyboard?: readonly ShownMessage['buttons'][];
  };
  const buttons = rows.flat();
  if (buttons.some(({ callback_data }) => callback_data === undefined || Buffer.byteLength(callback_data) > 64))
    throw new TelegramRefusal(400, 'Bad Request: BUTTON_DATA_INVALID');
  return buttons;
}
