// Examples of the OneBot 11 specification as they are published (botuniverse/onebot-11: communication/http-post.md, http.md and ws.md,
// message/string.md, array.md and segment.md).
import { createHmac } from 'node:crypto';

/** communication/http-post.md: the body of a delivery, as it is printed there. */
export const POSTED = `{
    "time": 1515204254,
    "self_id": 10001000,
    "post_type": "message",
    "message_type": "private",
    "sub_type": "friend",
    "message_id": 12,
    "user_id": 12345678,
    "message": "你好～",
    "raw_message": "你好～",
    "font": 456,
    "sender": {
        "nickname": "小不点",
        "sex": "male",
        "age": 18
    }
}`;

/** communication/http-post.md: how it is posted; the signature is made with a key that is not printed. */
export const POST_HEADERS = { 'content-type': 'application/json', 'x-self-id': '10001000' };
/** The same, the example in Node.js: what a back end does to believe it. */
export const isBelieved = (secret: string, rawBody: Buffer, signature: unknown): boolean =>
  signature === `sha1=${createHmac('sha1', secret).update(rawBody).digest('hex')}`;

/** communication/ws-reverse.md and authorization.md: the request for a connection of the role API. */
export const REVERSE_HEADERS = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'x-self-id': '10001000',
  'x-client-role': 'API',
  authorization: 'Bearer kSLuTF2GC2Q4q4ugm3',
};

/** communication/ws.md: a call, and the answer where the implementation has no such action. */
export const CALL = { action: 'send_private_msg', params: { user_id: 10001000, message: '你好' }, echo: '123' };
export const NO_ACTION = { status: 'failed', retcode: 1404, data: null, echo: '123' };

/** communication/http.md: what a call is answered with. */
export const ANSWERED = { status: 'ok', retcode: 0, data: { id: 123456, nickname: '滑稽' } };

/** message/array.md: one message in both forms. */
export const STRING_FORM = '&#91;第一部分&#93;[CQ:image,file=123.jpg]图片之后的部分，表情：[CQ:face,id=123]';
export const ARRAY_FORM = [
  { type: 'text', data: { text: '[第一部分]' } },
  { type: 'image', data: { file: '123.jpg' } },
  { type: 'text', data: { text: '图片之后的部分，表情：' } },
  { type: 'face', data: { id: '123' } },
];

/** message/string.md: what a text is before and after it is escaped, and codes with their values. */
export const ESCAPES: readonly (readonly [plain: string, escaped: string])[] = [
  ['- [x] 使用 `&data` 获取地址', '- &#91;x&#93; 使用 `&amp;data` 获取地址'],
];
export const CODES: readonly (readonly [code: string, type: string, data: Readonly<Record<string, string>>])[] = [
  ['[CQ:shake]', 'shake', {}],
  ['[CQ:face,id=178]', 'face', { id: '178' }],
  ['[CQ:share,title=标题中有=等号,url=http://baidu.com]', 'share', { title: '标题中有=等号', url: 'http://baidu.com' }],
  [
    '[CQ:share,title=震惊&#44;小伙睡觉前居然...,url=http://baidu.com/?a=1&amp;b=2]',
    'share',
    { title: '震惊,小伙睡觉前居然...', url: 'http://baidu.com/?a=1&b=2' },
  ],
];

/** message/segment.md: one of each kind that is received. */
export const SEGMENTS = [
  { type: 'text', data: { text: '纯文本内容' } },
  { type: 'face', data: { id: '123' } },
  { type: 'image', data: { file: 'http://baidu.com/1.jpg' } },
  { type: 'record', data: { file: 'http://baidu.com/1.mp3' } },
  { type: 'video', data: { file: 'http://baidu.com/1.mp4' } },
  { type: 'at', data: { qq: '10001000' } },
  { type: 'rps', data: {} },
  { type: 'dice', data: {} },
  { type: 'poke', data: { type: '126', id: '2003' } },
  { type: 'share', data: { url: 'http://baidu.com', title: '百度' } },
  { type: 'contact', data: { type: 'qq', id: '10001000' } },
  { type: 'location', data: { lat: '39.8969426', lon: '116.3109099' } },
  { type: 'reply', data: { id: '123456' } },
  { type: 'forward', data: { id: '123456' } },
  { type: 'xml', data: { data: '<?xml ...' } },
  { type: 'json', data: { data: '{"app": ...' } },
];
