// The texts of the host and its own plugins that people in chats see. A new text joins its group in both languages.
import { defineTexts } from './texts.ts';

/** Refusals, failures and dialogs. */
export const hostTexts = defineTexts({
  en: {
    sorry: (ref: string) => `Sorry, that failed (${ref}).`,
    adminsOnly: 'Only admins may do that.',
    operatorsOnly: 'Only operators may do that.',
    usage: (line: string) => `Usage: ${line}`,
    moreFaults: (count: number) => `and ${count} more`,
    questionDropped: 'The open question is dropped: here is another one.',
    cancelled: 'Cancelled.',
  },
  zh: {
    sorry: (ref: string) => `抱歉，处理失败（${ref}）。`,
    adminsOnly: '只有管理员可以执行此操作。',
    operatorsOnly: '只有运维人员可以执行此操作。',
    usage: (line: string) => `用法：${line}`,
    moreFaults: (count: number) => `另有 ${count} 处错误`,
    questionDropped: '上一个问题已放弃，下面是新的问题。',
    cancelled: '已取消。',
  },
});

/** What does not fit in the arguments of a command or in an answer. */
export const faultTexts = defineTexts({
  en: {
    missing: 'missing',
    tooManyWords: (words: string) => `too many words: ${words}`,
    unknownKey: (known: string) => `unknown, expected ${known === '' ? 'no keys' : `one of ${known}`}`,
    expected: (what: string) => `expected ${what}`,
    got: (value: string) => `, got ${value}`,
    or: ' or ',
    oneOf: (values: string) => `one of ${values}`,
    atLeast: (limit: string) => `at least ${limit}`,
    atMost: (limit: string) => `at most ${limit}`,
    characters: (limit: string) => `${limit} characters`,
    items: (limit: string) => `${limit} items`,
    like: (pattern: string) => `text like ${pattern}`,
    format: (name: string) => `text in the format ${name}`,
    string: 'text',
    integer: 'a whole number',
    number: 'a number',
    boolean: 'yes or no',
    array: 'a list',
    object: 'an object',
    null: 'nothing',
    listOf: (count: number) => `a list of ${count}`,
    duration: 'a duration like 10m or 1h30m',
    when: 'a time like "in 5 minutes" or "tomorrow at 9"',
    secret: 'a secret',
    user: 'a user {endpoint, id}, in chat a mention',
    conversation: 'a conversation {endpoint, id}',
    message: 'a message {endpoint, conversation, id}',
  },
  zh: {
    missing: '缺少',
    tooManyWords: (words: string) => `内容过多：${words}`,
    unknownKey: (known: string) => `未知，应为${known === '' ? '空' : `以下之一：${known}`}`,
    expected: (what: string) => `应为${what}`,
    got: (value: string) => `，收到 ${value}`,
    or: '或',
    oneOf: (values: string) => `以下之一：${values}`,
    atLeast: (limit: string) => `至少 ${limit}`,
    atMost: (limit: string) => `至多 ${limit}`,
    characters: (limit: string) => `${limit} 个字符`,
    items: (limit: string) => `${limit} 项`,
    like: (pattern: string) => `符合 ${pattern} 的文本`,
    format: (name: string) => `${name} 格式的文本`,
    string: '文本',
    integer: '整数',
    number: '数字',
    boolean: '是或否（yes、no）',
    array: '列表',
    object: '对象',
    null: '空',
    listOf: (count: number) => `${count} 项的列表`,
    duration: '时长，例如 10m 或 1h30m',
    when: '时间，例如 10m、"in 5 minutes" 或 "tomorrow at 9"',
    secret: '密钥',
    user: '一个用户（在聊天中请 @ 提及）',
    conversation: '会话 {endpoint, id}',
    message: '消息 {endpoint, conversation, id}',
  },
});
export type FaultTexts = ReturnType<typeof faultTexts>;

export const helpTexts = defineTexts({
  en: {
    none: 'There are no commands here.',
    admins: ' (admins)',
    operators: ' (operators)',
    unknown: (name: string) => `There is no command ${name}.`,
    nameless: 'There is no command without a name.',
    didYouMean: (names: string) => `Did you mean ${names}?`,
    listed: (command: string) => `${command} lists those there are.`,
    argument: (usage: string, description: string) => `${usage}: ${description}`,
    examples: (lines: string) => `For example: ${lines}`,
    also: (names: string) => `Also: ${names}`,
    from: (slot: string) => `From: ${slot}`,
  },
  zh: {
    none: '这里没有命令。',
    admins: '（管理员）',
    operators: '（运维人员）',
    unknown: (name: string) => `没有命令 ${name}。`,
    nameless: '命令名不能为空。',
    didYouMean: (names: string) => `你是不是想用 ${names}？`,
    listed: (command: string) => `用 ${command} 查看所有命令。`,
    argument: (usage: string, description: string) => `${usage}：${description}`,
    examples: (lines: string) => `例如：${lines}`,
    also: (names: string) => `别名：${names}`,
    from: (slot: string) => `来自：${slot}`,
  },
});

export const pingTexts = defineTexts({
  en: { pong: (time: string) => `pong: the line waited ${time}` },
  zh: { pong: (time: string) => `pong：消息等待了 ${time}` },
});

/** Parts of a date as `Intl` writes them in the locale of the language. `year` is empty in this year. */
export interface DateParts {
  readonly weekday: string;
  readonly day: string;
  readonly month: string;
  readonly year: string;
  readonly time: string;
  readonly timezone: string;
}

export const remindTexts = defineTexts({
  en: {
    locale: 'en-GB',
    tooFar: (days: number) => `At most ${days} days.`,
    past: 'That time is over.',
    noted: (delay: string) => `I will remind you in ${delay}.`,
    notedOn: (date: string, delay: string) => `I will remind you on ${date}, in ${delay}.`,
    date: ({ weekday, day, month, year, time, timezone }: DateParts) =>
      `${[weekday, day, month, year].filter((part) => part !== '').join(' ')}, ${time} (${timezone})`,
    reminder: (text: string) => ` reminder: ${text}`,
    none: 'No reminder waits for you here.',
    line: (of: { readonly n: number; readonly date: string; readonly delay: string; readonly text: string }) =>
      `${of.n}) ${of.date}, in ${of.delay}: ${of.text}`,
    more: (count: number) => `and ${count} more`,
    cancelled: (n: number, text: string) => `Reminder ${n} is cancelled: ${text}`,
    unknown: (n: number) => `You have no reminder ${n} here. /remind list shows those that wait.`,
  },
  zh: {
    locale: 'zh-CN',
    tooFar: (days: number) => `最多 ${days} 天。`,
    past: '这个时间已经过去了。',
    noted: (delay: string) => `好的，${delay} 后提醒你。`,
    notedOn: (date: string, delay: string) => `好的，我会在 ${date} 提醒你，还有 ${delay}。`,
    date: ({ weekday, day, month, year, time, timezone }: DateParts) =>
      `${year === '' ? '' : `${year}年`}${month}月${day}日${weekday} ${time}（${timezone}）`,
    reminder: (text: string) => ` 提醒：${text}`,
    none: '这里没有等待中的提醒。',
    line: (of: { readonly n: number; readonly date: string; readonly delay: string; readonly text: string }) =>
      `${of.n}) ${of.date}，还有 ${of.delay}：${of.text}`,
    more: (count: number) => `另有 ${count} 条`,
    cancelled: (n: number, text: string) => `提醒 ${n} 已取消：${text}`,
    unknown: (n: number) => `这里没有你的提醒 ${n}。用 /remind list 查看等待中的提醒。`,
  },
});
