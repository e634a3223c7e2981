/**
 * Words that carry no topic, by language. `function` words serve to tell languages apart, too; `asking` words
 * are how people ask about what they did, and `medium` words name the kind of thing they look for: both may
 * stand in a title, so they are kept and marked.
 */

export interface StopWords {
  readonly function: string;
  readonly asking: string;
  readonly medium: string;
}

export const STOP_WORDS: Readonly<Record<"en" | "de" | "es" | "fr", StopWords>> = {
  en: {
    function:
      "a an the this that these those there here it its i im ive id ill me my mine myself we us our you your u he him his she her they them their one ones some any every each all both no not nor so too very just only also even still yet again ever never then than as if or and but because while though although of in on at by for with about into onto over under from to up down out off through without within between around near like " +
      "is am are was were be been being do does did done doing dont doesnt didnt do have has had having havent hadnt get gets got getting gotten go goes went gone going gonna wanna can could cant couldnt will would wont wouldnt shall should shouldnt may might must need let lets s t m re ve ll d don doesn didn isn wasn couldn wouldn aren weren hasn hadn haven " +
      "what whats which who whos whom whose where wheres when whens why how hows what's please pls plz thanks thank thx ta cheers ok okay hey hi hello hmm um uh erm well yeah yes nah oh ah right sure actually basically maybe kinda sorta really anyway btw lol sorry wait tell give me pls remind quickly quick real now before after since until till during prior following once today",
    asking:
      "work works worked working look looks looked looking open opens opened opening read reading reads watch watched watching see saw seen seeing view viewed viewing visit visited visiting browse browsed browsing use used using find finding found search searched searching show showing list listing summarise summarize summary recap sum remember recall forget forgot forgotten know knew think thought say said mean meant make made making write wrote written edit edited editing touch touched touching start started starting stop stopped finish finished leave left off pick picked continue resume carry back return returned spend spent spending long much many time times last lately latest recent recently earlier previous first busy stuck focus focused focusing happen happened happening try tried trying check checked checking come came bring pull put keep kept want wanted play played bit lot while during most mostly main stuff thing things something anything everything someone anyone somewhere today activity activities history screen minute minutes hour hours day days week weeks month months hrs mins total add added need call called meeting great perfect brilliant awesome lovely cool nice excellent amazing good exactly roughly probably idea clue kindly love liked wants able manage managed another other same different few lot lots little whole entire rest end middle",
    medium:
      "page pages site sites website websites webpage link links url urls tab tabs window windows article articles post posts blog video videos clip clips file files doc docs document documents pdf pdfs spreadsheet spreadsheets sheet sheets slide slides deck presentation note notes email emails mail mails message messages thread chat app apps program listing listings item product ad project projects repo code folder image picture photo photos review reviews guide tutorial story piece write-up writeup paper papers book form recipe",
  },
  de: {
    function:
      "der die das den dem des ein eine einen einem einer eines kein keine keinen ich mich mir mein meine meinen meinem meiner wir uns unser unsere du dich dir dein deine er ihn ihm sein seine sie ihr ihre ihnen es man wer wen wem was welche welcher welches welchen wo wohin woher wann warum wieso weshalb wie wieviel und oder aber denn weil dass ob wenn als auch nur noch schon mal nochmal nochmals eben halt doch ja nein nicht so zu zum zur in im ins an am ans auf aufm aus bei beim mit von vom vor nach seit bis für fürs über um durch gegen ohne unter zwischen während hinter neben " +
      "bin bist ist sind seid war warst waren wart gewesen habe hab hast hat haben habt hatte hatten gehabt werde wird werden wurde wurden kann kannst können könnte könntest konnte will willst wollen wollte soll sollte muss musste möchte darf mag da hier dort dann dazu davon damit daran darauf dabei dafür irgendwas etwas alles nichts bitte danke dank hallo hey hi ok okay gut also naja äh ähm hm genau jetzt gerade heute gestern sag zeig gib mir 's n ne nen ner rein raus rum nun denn bevor nachdem seitdem",
    asking:
      "gemacht machen mache machte tat getan tun gearbeitet arbeiten arbeite arbeitete gelesen lesen las geöffnet offen öffnen aufgemacht auf geschaut schauen angeschaut angesehen ansehen gesehen sehen gesucht suchen suche gefunden finden finde zeigen zeige benutzt besucht bearbeitet beschäftigt zusammenfassen zusammenfassung fasse zusammen erinnern erinnere weißt weiss wissen stehen geblieben stehengeblieben aufgehört weitermachen weiter angefangen dran zuletzt letzte letzten letzter letztes vorhin lange lang viel zeit verbracht gebraucht mal sache sachen ding dinger zeug kram bildschirm stunden minuten tag woche geschafft erledigt passiert los klasse prima perfekt super toll cool spitze genau ungefähr eigentlich vielleicht wahrscheinlich ahnung idee wieder ganz ganze alle nächste gleiche andere anderes rest ende anfang mitte zurück angeguckt geguckt gucken rausgesucht raussuchen wiederfinden brauche brauch",
    medium:
      "seite seiten webseite website link links tab tabs fenster artikel beitrag video videos datei dateien dokument dokumente pdf tabelle tabellen folie folien präsentation notiz notizen mail mails email nachricht nachrichten chat app programm anzeige angebot projekt projekte ordner bild foto anleitung rezept formular bericht",
  },
  es: {
    function:
      "el la los las lo un una unos unas de del al a en con por para sin sobre entre hasta desde hacia según tras y e o u pero porque que qué quien quién cual cuál cuales cuáles cuando cuándo donde dónde como cómo cuanto cuánto cuanta cuánta cuantos cuántos si sí no ni también tampoco muy más menos ya aún todavía solo sólo yo mi mis me mí tú tu tus te ti él ella ello su sus se nos nuestro nuestra nosotros ellos ellas le les esto este esta estos estas eso ese esa esos esas aquello aquel aquella algo nada todo toda todos todas " +
      "soy eres es somos son era eras eran fui fue fueron ser estoy está estás están estaba estabas estaban estuve estuvo estar he has ha hemos han había habías haber hay voy va vas van iba ir tengo tiene tenía tenia tuve tener puedo puedes puede podrías podría poder quiero quiere quería hago hace haces hacer por favor gracias hola vale bueno oye pues entonces luego ok eh este ahora hoy ayer dime dame antes después",
    asking:
      "hice hecho haciendo hacia hacía hacer hiciste trabajé trabajaba trabajando trabajar trabaje leí leyendo leía leer leia abrí abierto abierta abrir abri tenia vi viendo visto ver mirando miré miraba mirar buscaba buscando buscar busca busqué encontrar encuentra encontré usando usé usar visité editando enseñame enséñame muéstrame mostrar muestra recuerda recordar recuérdame recuerdame acuerdo resumen resume resumir resúmeme quedé quede quedado dejé deje dejado seguir sigo continuar retomar empecé terminé último última ultimo ultima vez veces tiempo rato cosa cosas pantalla horas minutos dediqué pasé llevo dedicado gasté estuve pasó mucho genial perfecto estupendo bien exactamente idea otro otra mismo misma resto final principio necesito quería pásame sácame búscame vuelve",
    medium:
      "página páginas pagina paginas sitio web enlace enlaces link links pestaña pestañas ventana artículo artículos articulo vídeo video vídeos archivo archivos fichero documento documentos doc pdf hoja hojas excel presentación diapositivas nota notas correo correos mail mensaje mensajes chat app aplicación anuncio proyecto proyectos carpeta imagen foto guía guia receta formulario informe",
  },
  fr: {
    function:
      "le la les l un une des du de d à a au aux en dans sur sous avec sans pour par chez entre vers et ou mais donc or ni car que qu quoi qui quel quelle quels quelles quand où ou comment pourquoi combien est ce c ça cela ceci cet cette ces celui celle je j me m moi mon ma mes tu t te toi ton ta tes il elle on nous notre nos vous votre vos ils elles leur leurs lui se s son sa ses y ne n pas plus moins très aussi encore déjà juste seulement si oui non là ici rien tout toute tous toutes quelque chose " +
      "suis es est sommes sont étais était étaient été être ai as avons avez ont avais avait avaient eu avoir fais fait faisais faisait faire vais va vas allais aller peux peut pouvais pourrais pouvoir veux veut voulais vouloir dois doit merci salut bonjour stp svp s'il plaît plait ok d'accord bon ben euh hein alors puis ensuite maintenant aujourd hui hier dis donne moi avant après depuis pendant",
    asking:
      "fait faisais faire fichais foutais bossé bossais bosser travaillé travaillais travailler travaille lu lisais lire ouvert ouverte ouverts ouvrir ouvrais regardé regardais regarder regardée vu voyais voir cherché cherchais chercher cherche trouvé trouver retrouve retrouver retrouvé consulté consultais visité utilisé utilisais modifié montre montrer affiche rappelle rappeler souviens souvenir résumé résume résumer arrêté arrêtée resté restée laissé reprendre reprends continuer commencé fini dernière dernier fois temps passé passée longtemps heure heures minutes truc trucs choses machin écran occupé occupée quitté train cours génial parfait super nickel cool bien exactement idée autre même reste fin début besoin voulais",
    medium:
      "page pages site sites web lien liens onglet onglets fenêtre article articles vidéo vidéos video fichier fichiers document documents doc pdf tableau tableur feuille présentation diapo diapos note notes mail mails courriel message messages chat appli application annonce projet projets dossier image photo guide recette formulaire rapport",
  },
};

/** Function words of languages without a grammar here: they show that none of the four is spoken. */
export const FOREIGN_WORDS =
  "che cosa sono stavo ho hai abbiamo il gli della dello degli delle nel nella sul sulla questo questa quello quella ieri oggi prima dopo quando dove come perché perche anche ancora facevo fatto stato stata mi ti di da non per con una uno ero " +
  "eu estava não nao isso este esta aquele ontem hoje antes depois você voce meu minha meus minhas fazendo tava foi fiz são sao uma um do da dos das no na nos nas pelo pela com mais até ate onde quando quanto " +
  "ik je jij hij zij wij het een van op was deed gisteren vandaag voor niet ook nog wat waar wanneer hoe mijn aan bij maar heb had ben zijn naar dit deze die dat met " +
  "jak co czy jest był była byłem nie się na do po przed wczoraj dziś moja mój robiłem gdzie kiedy ile " +
  "jag vad var när hur och igår idag innan efter min mitt det är inte gjorde höll på med " +
  "ne nasıl nerede zaman ben bu dün bugün önce sonra için ve bir ile";
