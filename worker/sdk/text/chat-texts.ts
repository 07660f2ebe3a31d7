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

export const helpTexts = defineTexts({
  en: {
    none: 'There are no commands here.',
    admins: ' (admins)',
    operators: ' (operators)',
    unknown: (name: string) => `There is no command ${name}.`,
    nameless: 'There is no command without a name.',
    didYouMean: (names: string) => `Did you mean ${names}?`,
    listed: (command: string) => `${command} lists those there are.`,
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
    also: (names: string) => `别名：${names}`,
    from: (slot: string) => `来自：${slot}`,
  },
});

export const pingTexts = defineTexts({
  en: { pong: (time: string) => `pong: the line waited ${time}` },
  zh: { pong: (time: string) => `pong：消息等待了 ${time}` },
});

export const remindTexts = defineTexts({
  en: {
    tooFar: (days: number) => `At most ${days} days.`,
    noted: (time: string) => `I will remind you in ${time}.`,
    reminder: (text: string) => ` reminder: ${text}`,
  },
  zh: {
    tooFar: (days: number) => `最多 ${days} 天。`,
    noted: (time: string) => `好的，${time} 后提醒你。`,
    reminder: (text: string) => ` 提醒：${text}`,
  },
});
