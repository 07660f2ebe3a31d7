// Converts between emoji characters, which all platforms share, and Slack's names. Unknown names stay `:name:`. Pure.

const TABLE =
  '+1 👍 -1 👎 heart ❤️ smile 😄 grinning 😀 joy 😂 rofl 🤣 slightly_smiling_face 🙂 wink 😉 blush 😊 heart_eyes 😍 thinking_face 🤔 ' +
  'neutral_face 😐 confused 😕 cry 😢 sob 😭 angry 😠 rage 😡 scream 😱 sweat_smile 😅 sunglasses 😎 partying_face 🥳 sleeping 😴 ' +
  'face_with_rolling_eyes 🙄 hugging_face 🤗 shrug 🤷 facepalm 🤦 exploding_head 🤯 wave 👋 clap 👏 raised_hands 🙌 pray 🙏 muscle 💪 ' +
  'ok_hand 👌 point_up ☝️ point_right 👉 point_left 👈 point_down 👇 handshake 🤝 eyes 👀 brain 🧠 fire 🔥 tada 🎉 100 💯 ' +
  'sparkles ✨ star ⭐ star2 🌟 boom 💥 zap ⚡ rocket 🚀 bulb 💡 warning ⚠️ no_entry ⛔ no_entry_sign 🚫 x ❌ white_check_mark ✅ ' +
  'heavy_check_mark ✔️ ballot_box_with_check ☑️ question ❓ exclamation ❗ bangbang ‼️ heavy_plus_sign ➕ heavy_minus_sign ➖ ' +
  'hourglass ⌛ hourglass_flowing_sand ⏳ alarm_clock ⏰ stopwatch ⏱️ calendar 📆 date 📅 bell 🔔 no_bell 🔕 lock 🔒 unlock 🔓 key 🔑 ' +
  'mag 🔍 link 🔗 paperclip 📎 pushpin 📌 memo 📝 bookmark 🔖 package 📦 email 📧 envelope ✉️ inbox_tray 📥 outbox_tray 📤 ' +
  'wrench 🔧 hammer 🔨 gear ⚙️ bug 🐛 construction 🚧 rotating_light 🚨 red_circle 🔴 large_green_circle 🟢 large_yellow_circle 🟡 ' +
  'large_blue_circle 🔵 white_circle ⚪ black_circle ⚫ arrow_up ⬆️ arrow_down ⬇️ arrow_left ⬅️ arrow_right ➡️ repeat 🔁 ' +
  'arrows_counterclockwise 🔄 recycle ♻️ coffee ☕ tea 🍵 beer 🍺 pizza 🍕 cake 🍰 gift 🎁 trophy 🏆 medal 🏅 dart 🎯 moneybag 💰 ' +
  'chart_with_upwards_trend 📈 chart_with_downwards_trend 📉 computer 💻 iphone 📱 robot_face 🤖 ghost 👻 skull 💀 poop 💩 dog 🐶 cat 🐱 ' +
  'broken_heart 💔 blue_heart 💙 green_heart 💚 yellow_heart 💛 purple_heart 💜 black_heart 🖤 orange_heart 🧡 speech_balloon 💬 ' +
  'one 1️⃣ two 2️⃣ three 3️⃣ four 4️⃣ five 5️⃣ six 6️⃣ seven 7️⃣ eight 8️⃣ nine 9️⃣ keycap_ten 🔟 zero 0️⃣ thumbsup 👍 thumbsdown 👎 hankey 💩';

const words = TABLE.split(' ');
const byName = new Map<string, string>();
const byCharacter = new Map<string, string>();
for (let at = 0; at + 1 < words.length; at += 2) {
  const [name = '', character = ''] = [words[at], words[at + 1]];
  byName.set(name, character);
  if (!byCharacter.has(bare(character))) byCharacter.set(bare(character), name);
}

const TONES = ['🏻', '🏼', '🏽', '🏾', '🏿'];

/** Removes the variation selector U+FE0F, which platforms use inconsistently. */
function bare(character: string): string {
  return character.replaceAll('\ufe0f', '');
}

/** `+1::skin-tone-3` → 👍🏼, an unknown name → `:name:`. */
export function fromSlackName(reaction: string): string {
  const [name = '', tone] = reaction.split('::skin-tone-');
  const character = byName.get(name);
  if (character === undefined) return `:${reaction}:`;
  return tone === undefined ? character : `${bare(character)}${TONES[Number(tone) - 2] ?? ''}`;
}

/** 👍 → `+1`; `:name:` and `name` → `name`. Undefined for an unknown character. Custom names may use any script. */
export function toSlackName(emoji: string): string | undefined {
  const [, quoted, plain] =
    /^:([\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_+'-]+(?:::skin-tone-[2-6])?):$|^([a-z0-9_+'-]+(?:::skin-tone-[2-6])?)$/u.exec(
      emoji,
    ) ?? [];
  const named = quoted ?? plain;
  if (named !== undefined) return named;
  const tone = TONES.findIndex((one) => emoji.includes(one));
  const name = byCharacter.get(bare(tone === -1 ? emoji : emoji.replace(TONES[tone] ?? '', '')));
  return name === undefined || tone === -1 ? name : `${name}::skin-tone-${tone + 2}`;
}
