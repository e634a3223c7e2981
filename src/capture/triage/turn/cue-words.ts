/** Side words ("before", "nach", "desde") and kinds of events ("call", "Mittagessen", "me levanté") in four languages. */
import type { PhraseTable } from "./phrases.ts";
import type { AnchorKind, Side } from "./reading.ts";

export interface CueWord {
  readonly side?: Side;
  readonly anchor?: AnchorKind;
  readonly edge?: "start" | "end";
  /** "right before", "kurz vor": not a cue by itself. */
  readonly close?: true;
  /** "What did I get up to": holds the words of a cue and is none. */
  readonly idiom?: true;
}

type CueTable = PhraseTable<CueWord>;

const ENGLISH: CueTable = [
  [
    { side: "before" },
    "before|prior to|ahead of|leading up to|in the run up to|b4|befor|bfore|up to the point",
  ],
  [
    { side: "after" },
    "after|following the|following my|once i|once we|as soon as|coming out of|aftr|straight after",
  ],
  [{ side: "since" }, "since|ever since|from when"],
  [{ side: "until" }, "until|till|up until"],
  [{ side: "until" }, "up to|right up to"],
  [{ idiom: true }, "get up to|got up to|getting up to|was up to|were up to|been up to|am up to"],
  [{ side: "during" }, "during|in the middle of|while|whilst|throughout|amid|midway through|mid"],
  [{ side: "when" }, "when|at the time|by the time|at the point"],
  [{ side: "before", anchor: "that" }, "before that|before this|prior to that|beforehand"],
  [{ side: "after", anchor: "that" }, "after that|after this|afterwards|following that"],
  [{ close: true }, "right|just|immediately|shortly|directly|straight|moments"],
  [
    { anchor: "call" },
    "call|calls|phone call|video call|conference call|zoom|zoom call|teams call|teams meeting|google meet|meeting|meetings|mtg|standup|stand up|stand ups|daily standup|scrum|sync|sync up|catch up|catchup|catch up call|one on one|one to one|1on1|interview|huddle|retro|retrospective|sprint planning|planning meeting|webinar|lecture|seminar|appointment|facetime|hangout|conf call|check in|checkin|briefing|workshop|debrief|townhall|town hall|all hands|kickoff|kick off|lesson|tutorial session|therapy session",
  ],
  [
    { anchor: "call", edge: "start" },
    "called|phoned|rang|rang me|called me|dialed in|dialled in|joined the call|jumped on|hopped on|got on the call|phoned me",
  ],
  [
    { anchor: "call", edge: "end" },
    "hung up|got off the phone|got off the call|off the phone|left the call|call ended|meeting ended",
  ],
  [
    { anchor: "call" },
    "talk to|talk with|speak to|speak with|talked to|spoke to|speaking to|speaking with|talking with|chatting to|chatting with|catching up with|spoke with|talked with|talking to|chatted with|chat with|met with",
  ],
  [{ anchor: "lunch" }, "lunch|lunchbreak|lunch break|my lunch|lunchtime"],
  [{ anchor: "breakfast" }, "breakfast|brekkie|brekky"],
  [{ anchor: "dinner" }, "dinner|supper|dinnertime"],
  [
    { anchor: "break" },
    "break|coffee|coffee break|tea break|coffee run|smoke break|cigarette|walk|the gym|gym|school run|nap|power nap|shower|errand|errands|dog walk|a bathroom break|bathroom break|snack|breather|pause",
  ],
  [
    { anchor: "break", edge: "start" },
    "went for a walk|grabbed a coffee|got a coffee|made coffee|walked the dog|grabbed coffee|went for a coffee|took a break|had a break",
  ],
  [{ anchor: "sleep" }, "sleep|slept|overnight|bed|bedtime"],
  [
    { anchor: "sleep", edge: "start" },
    "went to bed|go to bed|going to bed|fell asleep|turned in|going to sleep|went to sleep",
  ],
  [
    { anchor: "sleep", edge: "end" },
    "got up|get up|woke up|wake up|waking up|getting up|woke|out of bed|got out of bed|i rose|awoke",
  ],
  [
    { anchor: "away", edge: "start" },
    "stepped away|step away|stepping away|stepped out|stepped off|walked away|walked off|went away|left my desk|left the desk|left the house|popped out|went out|nipped out|wandered off|got interrupted|was interrupted|got distracted|got pulled away|got pulled into|was pulled away|got sidetracked|interruption|the interruption|doorbell|the doorbell rang|door rang|closed the laptop|closed my laptop|shut the laptop|locked my screen|locked the screen|locked up|logged off|i left|had to leave|had to go|going away|gone afk|went afk|fire alarm|power cut",
  ],
  [
    { anchor: "away", edge: "end" },
    "got back|came back|come back|get back|getting back|coming back|returned|i was back|been back|sat back down|sat down again|back at my desk|back to my desk|at my desk again|logged back in|logged in|unlocked|opened the laptop|opened my laptop|got home|got in|back from",
  ],
  [
    { anchor: "away" },
    "afk|away from my desk|away from keyboard|my absence|i away|i gone|been away|been gone|was away|was gone|not at my desk|away at|away over|away around|away during",
  ],
];

const GERMAN: CueTable = [
  [{ side: "before" }, "vor|vorm|bevor|ehe|im vorfeld"],
  [{ side: "after" }, "nach|nachdem|nachm|im anschluss an|sobald"],
  [{ side: "since" }, "seit|seitdem|seit dem|seitm|seit der"],
  [{ side: "until" }, "bis|bis zum|bis zur"],
  [{ side: "during" }, "während|beim|mitten in|mitten im|inmitten"],
  [{ side: "when" }, "als|wo ich|wie ich|in dem moment"],
  [{ side: "before", anchor: "that" }, "davor|zuvor"],
  [{ side: "after", anchor: "that" }, "danach|hinterher|anschließend"],
  [{ close: true }, "kurz|direkt|unmittelbar|gleich|knapp|grad"],
  [
    { anchor: "call" },
    "anruf|anrufs|anrufe|call|calls|telefonat|telefonats|gespräch|gesprächs|meeting|meetings|besprechung|besprechungen|sitzung|termin|termins|termine|videokonferenz|videocall|konferenz|telko|telco|standup|stand up|daily|jour fixe|jourfix|interview|zoom|zoom call|teams call|vorstellungsgespräch|workshop|seminar|vorlesung|webinar|retro|sprint planning|abstimmung|weekly|schulung|teammeeting|kundentermin|arzttermin|elterngespräch|unterricht",
  ],
  [
    { anchor: "call", edge: "start" },
    "angerufen|anrief|anruft|angeklingelt|telefoniert|gesprochen",
  ],
  [{ anchor: "call", edge: "end" }, "aufgelegt"],
  [
    { anchor: "lunch" },
    "mittagessen|mittagspause|lunch|lunchpause|mittag|mittagessens|zu mittag|essen|essenspause",
  ],
  [{ anchor: "breakfast" }, "frühstück|frühstücken|frühstückspause"],
  [{ anchor: "dinner" }, "abendessen|abendbrot|abendessens"],
  [
    { anchor: "break" },
    "pause|kaffeepause|kaffee|kaffeetrinken|raucherpause|zigarettenpause|spaziergang|spazieren|gassi|gassigehen|gassirunde|teepause|nickerchen|sport|fitnessstudio|einkaufen|einkauf|dusche|duschen|hunderunde|käffchen|zigarette",
  ],
  [{ anchor: "sleep" }, "schlaf|schlafen|geschlafen|bett"],
  [
    { anchor: "sleep", edge: "start" },
    "ins bett|eingeschlafen|schlafengehen|schlafen gegangen|ins bett gegangen|ins bett ging",
  ],
  [
    { anchor: "sleep", edge: "end" },
    "aufgestanden|aufgewacht|aufstand|aufstehen|aufwachen|aufwachte|wach bin|wach wurde",
  ],
  [
    { anchor: "away", edge: "start" },
    "weg war|weg bin|weggegangen|wegging|weg musste|weggegangen bin|rausgegangen|raus bin|raus musste|rausging|los musste|gegangen|unterbrochen|unterbrechung|abgelenkt|laptop zugeklappt|zugeklappt|rechner gesperrt|gesperrt|es geklingelt hat|geklingelt|klingelte|türklingel|aufgehört habe|aufgestanden vom schreibtisch",
  ],
  [
    { anchor: "away", edge: "end" },
    "zurück|zurückgekommen|zurückkam|wiedergekommen|wiederkam|wieder da|wieder am platz|wieder am rechner|wieder dran|zurück war|zurückkomme|heimgekommen|wieder zu hause",
  ],
  [
    { anchor: "away" },
    "weg|abwesend|fort gewesen|nicht am rechner|nicht am platz|nicht am schreibtisch",
  ],
];

const SPANISH: CueTable = [
  [
    { side: "before" },
    "antes de|antes del|antes de que|antes de la|antes de el|previo a|previo al|antes d|ants de",
  ],
  [
    { side: "after" },
    "después de|después del|después de que|después de la|tras|luego de|luego del|al salir de|una vez que|en cuanto|tras el|tras la|nada más|saliendo de|saliendo del|al salir del|volviendo de|volviendo del|al volver de|al volver del|de vuelta de|de vuelta del|al terminar|al terminar de|al acabar|al acabar de|al regresar de|al regresar del|regresando de|regresando del|al llegar de|al llegar del|llegando de|llegando del|al venir de|viniendo de|al terminar con|terminando|acabando|terminada la|acabada la",
  ],
  [{ side: "since" }, "desde|desde que|desde el|desde la|a partir de"],
  [{ side: "until" }, "hasta|hasta que|hasta el|hasta la"],
  [{ side: "during" }, "durante|mientras|en medio de|en mitad de|en plena|en pleno"],
  [{ side: "when" }, "cuando|al momento de|en el momento en que"],
  [{ side: "before", anchor: "that" }, "antes de eso|antes de esto|previamente|antes d eso"],
  [
    { side: "after", anchor: "that" },
    "después de eso|después de esto|luego de eso|tras eso|posteriormente",
  ],
  [{ close: true }, "justo|poco|inmediatamente|un poco|justito"],
  [
    { anchor: "call" },
    "llamada|llamadas|la llamada|videollamada|videollamadas|reunión|reuniones|junta|juntas|call|calls|meeting|zoom|entrevista|standup|daily|cita|conferencia|sesión|clase|seminario|taller|webinar|retro|videoconferencia|reu|sync|capacitación|formación|encuentro|tutoría|charla|plática|asamblea",
  ],
  [
    { anchor: "call", edge: "start" },
    "llamó|llamara|me llamó|llamase|llamo|llame|hablar con|hablé con|hable con|hablaba con|platicar con|platiqué con|charlar con|charlé con|conversar con|me marcó|me marcara|telefoneó",
  ],
  [{ side: "after", anchor: "call", edge: "end" }, "al colgar"],
  [{ anchor: "call", edge: "end" }, "colgué|colgar|colgara|colgue"],
  [
    { anchor: "lunch" },
    "comida|la comida|almuerzo|almorzar|comer|almorcé|comí|el almuerzo|comiera|sobremesa|lonche|lonchar",
  ],
  [{ anchor: "breakfast" }, "desayuno|desayunar|desayuné"],
  [{ anchor: "dinner" }, "cena|cenar|cené|la cena"],
  [
    { anchor: "break" },
    "pausa|descanso|fumar|salir a fumar|irme a fumar|ir a fumar|café|un café|el café|la pausa|el descanso|cafecito|paseo|siesta|merienda|recreo|cigarro|pitillo|gimnasio|pasear al perro|ducha|mandado|compra|la compra|pausita",
  ],
  [{ anchor: "sleep" }, "dormir|dormí|sueño"],
  [
    { anchor: "sleep", edge: "start" },
    "acosté|acostarme|me acosté|cama|la cama|irme a dormir|irme a la cama|me dormí|fui a dormir|fui a la cama|me acoste|acostara",
  ],
  [
    { anchor: "sleep", edge: "end" },
    "levanté|me levanté|levantarme|despertarme|desperté|me desperté|me levante|desperte|despertar|levantara",
  ],
  [
    { anchor: "away", edge: "start" },
    "me fui|irme|salí|salir|salirme|me ausenté|ausentarme|me levanté de la mesa|levantarme de la mesa|me alejé|interrumpieron|me interrumpieran|interrupción|interrumpió|me distraje|timbre|tocaron el timbre|cerré el portátil|bloqueé la pantalla|bloquear la pantalla|apagar la compu|apagué la compu|apagar el ordenador|apagué el ordenador|apagar la computadora|apagué la computadora|me marché|marcharme|me sali|me tuve que ir|tener que irme|salir un momento",
  ],
  [
    { anchor: "away", edge: "end" },
    "volví|volver|vuelta|de vuelta|he vuelto|regresé|regresar|regreso|volvi|regrese|llegué a casa|llegar a casa|he llegado|llegué|volviera",
  ],
];

const FRENCH: CueTable = [
  [
    { side: "before" },
    "avant|avant de|avant d|avant d aller|avant que|avant le|avant la|avant l|avant mon|avant ma|préalablement à",
  ],
  [
    { side: "after" },
    "après|après que|après le|après la|suite à|à la suite de|au sortir de|au sortir du|en sortant de|en sortant du|en rentrant de|en rentrant du|en revenant de|en revenant du|de retour de|de retour du|une fois|dès que|au retour de|au retour du|à l issue de|à l issue du|en finissant|en terminant|à la sortie de|à la sortie du|à la fin de|à la fin du|au terme de|au terme du|sitôt",
  ],
  [{ side: "since" }, "depuis|depuis que|depuis le|depuis la|depuis qu"],
  [{ side: "until" }, "jusqu à|jusqu au|jusqu à ce que|jusqu"],
  [
    { side: "during" },
    "pendant|durant|lors de|lors du|au cours de|au milieu de|en plein|en pleine|pendant que|au beau milieu de",
  ],
  [{ side: "when" }, "quand|lorsque|lorsqu|au moment où|au moment de"],
  [
    { side: "before", anchor: "that" },
    "avant ça|avant cela|auparavant|juste avant ça|celle d avant|celui d avant",
  ],
  [
    { side: "after", anchor: "that" },
    "après ça|après cela|par la suite|celle d après|celui d après",
  ],
  [{ close: true }, "juste|peu|tout de suite|immédiatement|directement|un peu"],
  [
    { anchor: "call" },
    "appel|appels|l appel|coup de fil|coup de téléphone|visio|visioconférence|visios|réunion|réunions|réu|reu|call|meeting|entretien|rendez vous|rdv|point hebdo|point d équipe|le point avec|conférence|conf call|standup|daily|mêlée|le cours|mon cours|séminaire|webinaire|zoom|atelier|rétro|conf|rencontre|rencontres|formation|séance|assemblée|suivi|conférence téléphonique|appel conférence|entrevue",
  ],
  [
    { anchor: "call", edge: "start" },
    "appelé|appelle|m appelle|m a appelé|appelée|téléphoné|ait appelé|parlé avec|parlé à|parler avec|parler à|discuter avec|discuté avec|échanger avec|échangé avec|eu au téléphone|appele",
  ],
  [{ anchor: "call", edge: "end" }, "raccroché|raccroche"],
  [
    { anchor: "lunch" },
    "déjeuner|déjeuné|dej|déj|pause déjeuner|pause déj|pause dej|pause de midi|repas de midi|repas|le repas|manger|bouffer|casser la croûte|midi à table|dejeuner",
  ],
  [{ anchor: "breakfast" }, "petit déjeuner|petit déj|petit dej|p tit déj|ptit dej"],
  [{ anchor: "dinner" }, "dîner|souper|diner|repas du soir"],
  [
    { anchor: "break" },
    "pause|la pause|apéro|l apéro|fumer|aller fumer|pause café|café|cafe|clope|pause clope|promenade|balade|sieste|goûter|sport|gym|courses|les courses|promener le chien|douche|pause goûter",
  ],
  [{ anchor: "sleep" }, "dormir|dormi|sommeil"],
  [
    { anchor: "sleep", edge: "start" },
    "couché|couchée|me coucher|au lit|aller au lit|aller dormir|endormi|endormie|coucher|couche",
  ],
  [
    { anchor: "sleep", edge: "end" },
    "levé|levée|me lever|réveillé|réveillée|réveil|lever|mon réveil|suis levé|suis levée|me suis levé|leve|reveille|debout",
  ],
  [
    { anchor: "away", edge: "start" },
    "parti|partie|partir|m en aille|suis parti|suis partie|sorti|sortie|m absenter|absenté|absentée|m éloigner|éloigné|quitté mon bureau|quitte mon bureau|quitté le bureau|interrompu|interrompue|interruption|coupure|dérangé|dérangée|distrait|sonnette|on sonne|fermé mon ordi|verrouillé|verrouiller|éteindre l ordi|éteint l ordi|éteindre mon ordi|éteint mon ordi|me suis levé de mon bureau|me suis levée de mon bureau|me suis levé de table|me suis levée de table|me lever de mon bureau|me lever de table|ma pause pipi|m éclipser|suis sorti",
  ],
  [
    { anchor: "away", edge: "end" },
    "revenu|revenue|retour|de retour|mon retour|rentré|rentrée|suis revenu|suis revenue|suis rentré|rentrer|revenir",
  ],
];

export const CUE_WORDS: Readonly<Record<"en" | "de" | "es" | "fr", CueTable>> = {
  en: ENGLISH,
  de: GERMAN,
  es: SPANISH,
  fr: FRENCH,
};
