/**
 * What nobody wants recorded, as data: password managers, authenticators, wallets, banks, lock screens and
 * secret prompts. It is on unless the owner switches it off; a rule of the owner's may come before it.
 */

/** One entry of the list. Whatever matches is dropped: nothing is kept but a filtered gap. */
export interface SeedEntry {
  readonly name: string;
  readonly category: SeedCategory;
  /** Application names, lower case: window class, app id, its last part, or the executable. */
  readonly apps: readonly string[];
  /** Phrases that name it in the title of a browser, lower case, matched as whole words. */
  readonly titles: readonly string[];
  /** Hosts; their subdomains are meant too. */
  readonly hosts: readonly string[];
}

export type SeedCategory =
  | "password manager"
  | "authenticator"
  | "wallet"
  | "bank"
  | "health"
  | "lock screen"
  | "secret prompt";

export const SEED_ENTRIES: readonly SeedEntry[] = [
  // ---- password managers
  entry(
    "password manager",
    "1Password",
    "1password|onepassword|com.agilebits.onepassword7|agilebits.onepassword",
    "1password",
    "1password.com|1password.eu|1password.ca",
  ),
  entry("password manager", "Bitwarden", "bitwarden", "bitwarden", "bitwarden.com|bitwarden.eu"),
  entry(
    "password manager",
    "KeePass",
    "keepass|keepass2|keepassxc|keepassx|keeweb|keepassium|strongbox|secrets|gnome-secrets|password safe|gnome-passwordsafe|pwsafe|passwordsafe",
    "keepass|keepassxc|keeweb",
    "keeweb.info",
  ),
  entry("password manager", "LastPass", "lastpass", "lastpass", "lastpass.com|lastpass.eu"),
  entry("password manager", "Dashlane", "dashlane", "dashlane", "dashlane.com"),
  entry(
    "password manager",
    "Proton Pass",
    "proton pass|proton-pass|protonpass",
    "proton pass",
    "pass.proton.me",
  ),
  entry("password manager", "NordPass", "nordpass", "nordpass", "nordpass.com"),
  entry(
    "password manager",
    "Keeper",
    "keeper password manager|keeperpasswordmanager|keeper",
    "keeper password manager|keeper vault",
    "keepersecurity.com|keepersecurity.eu",
  ),
  entry("password manager", "Enpass", "enpass", "enpass", "enpass.io"),
  entry("password manager", "RoboForm", "roboform", "roboform", "roboform.com"),
  entry("password manager", "Passbolt", "passbolt", "passbolt", "passbolt.com"),
  entry("password manager", "Vaultwarden", "vaultwarden", "vaultwarden|vaultwarden web"),
  entry("password manager", "Buttercup", "buttercup", "buttercup vault"),
  entry("password manager", "pass", "qtpass|gopass|pass-import|rofi-pass|passmenu|tessen"),
  entry(
    "password manager",
    "Desktop key rings",
    "seahorse|kwalletmanager|kwalletmanager5|kwalletmanager6|kwalletd5|kwalletd6|keychain access|passwords|com.apple.passwords|credential manager",
    "passwords and keys|keychain access",
  ),
  entry(
    "password manager",
    "Passwords of the browser",
    "",
    "password manager|saved logins|about:logins|gespeicherte zugangsdaten|passwort-manager|passwortmanager|gestionnaire de mots de passe|administrador de contraseñas|gestor de contraseñas|gestore delle password|gerenciador de senhas|менеджер паролей|パスワード マネージャー|密码管理工具",
    "passwords.google.com",
  ),
  entry("password manager", "HashiCorp Vault", "", "hashicorp vault"),
  entry("password manager", "Delinea Secret Server", "", "secret server|cyberark"),
  // ---- authenticators
  entry("authenticator", "Authy", "authy|authy desktop", "authy", "authy.com"),
  entry(
    "authenticator",
    "Ente Auth",
    "ente auth|enteauth|ente_auth|io.ente.auth",
    "ente auth",
    "auth.ente.io",
  ),
  entry("authenticator", "Aegis", "aegis authenticator", "aegis authenticator"),
  entry("authenticator", "Google Authenticator", "google authenticator", "google authenticator"),
  entry(
    "authenticator",
    "Microsoft Authenticator",
    "microsoft authenticator",
    "microsoft authenticator",
  ),
  entry("authenticator", "2FAS", "2fas", "2fas auth"),
  entry(
    "authenticator",
    "Desktop authenticators",
    "authenticator|com.belmoussaoui.authenticator|gnome-authenticator|otpclient|numberstation|keysmith|winauth",
  ),
  entry(
    "authenticator",
    "Yubico Authenticator",
    "yubico authenticator|yubioath-desktop|yubioath-flutter|com.yubico.yubioath|yubikey manager|ykman-gui",
    "yubico authenticator",
  ),
  entry(
    "authenticator",
    "Duo",
    "duo mobile|duo desktop",
    "duo security|duo two-factor",
    "duosecurity.com",
  ),
  entry(
    "authenticator",
    "Two-step sign-in pages",
    "",
    "two-factor authentication|2-step verification|two-step verification|zwei-faktor-authentifizierung|bestätigung in zwei schritten|authentification à deux facteurs|validation en deux étapes|verificación en dos pasos|verifica in due passaggi|recovery codes|backup codes",
  ),
  // ---- wallets
  entry("wallet", "MetaMask", "metamask", "metamask", "metamask.io"),
  entry("wallet", "Ledger", "ledger live|ledger-live-desktop|ledger wallet", "ledger live"),
  entry(
    "wallet",
    "Trezor",
    "trezor suite|trezor-suite|trezor suite lite",
    "trezor suite",
    "suite.trezor.io",
  ),
  entry("wallet", "Electrum", "electrum|electron cash|electron-cash", "electrum wallet"),
  entry("wallet", "Exodus", "exodus", "exodus wallet", "exodus.com"),
  entry(
    "wallet",
    "Bitcoin and other core wallets",
    "bitcoin-qt|bitcoin core|litecoin-qt|dogecoin-qt|dash-qt|sparrow|sparrow wallet|wasabi wallet|wasabiwallet|wassabee|specter|blockstream green|bluewallet|armory|feather|feather wallet|monero-wallet-gui|monero gui|cake wallet|zecwallet|daedalus|yoroi|nunchuk|liana",
  ),
  entry("wallet", "Phantom", "phantom", "phantom wallet", "phantom.app|phantom.com"),
  entry("wallet", "Trust Wallet", "trust wallet", "trust wallet", "trustwallet.com"),
  entry("wallet", "Coinbase", "coinbase|coinbase wallet", "coinbase", "coinbase.com"),
  entry("wallet", "Binance", "binance", "binance", "binance.com|binance.us"),
  entry("wallet", "Kraken", "kraken desktop", "kraken pro", "kraken.com"),
  // ---- banks and payment
  entry(
    "bank",
    "Online banking in general",
    "hibiscus|jameica|starmoney|banking4|moneymoney|kmymoney|gnucash|homebank|money manager ex|mmex|skrooge|quicken|subsembly",
    "online banking|onlinebanking|online-banking|internet banking|internetbanking|netbanking|net banking|e-banking|ebanking|mobile banking|homebanking|home banking|banque en ligne|banca en línea|banca online|banca electrónica|banca móvil|internet bankowy|bankowość internetowa|bankowość elektroniczna|internetové bankovnictví|internetbank|nettbank|netbank|verkkopankki|интернет-банк|онлайн-банк|интернет-банкинг|онлайн-банкинг|网上银行|網上銀行|ネットバンキング|インターネットバンキング|인터넷뱅킹|account summary|kontoübersicht|finanzübersicht|finanzstatus|relevé de compte|extracto bancario",
  ),
  entry("bank", "PayPal", "paypal", "paypal", "paypal.com"),
  entry("bank", "Wise", "", "wise: online money transfers", "wise.com"),
  entry("bank", "Revolut", "revolut", "revolut", "revolut.com"),
  entry("bank", "N26", "n26", "n26", "n26.com"),
  entry("bank", "Chase", "", "chase bank|chase.com|chase online", "chase.com"),
  entry("bank", "Bank of America", "", "bank of america", "bankofamerica.com"),
  entry("bank", "Wells Fargo", "", "wells fargo", "wellsfargo.com"),
  entry("bank", "Citibank", "", "citibank|citi.com", "citi.com|citibank.com"),
  entry("bank", "Capital One", "", "capital one", "capitalone.com"),
  entry(
    "bank",
    "Other banks of North America",
    "",
    "u.s. bank|pnc bank|truist|ally bank|navy federal|usaa|sofi bank|td canada trust|easyweb|rbc royal bank|scotiabank|cibc|tangerine bank|desjardins accèsd|banregio",
    "usbank.com|pnc.com|truist.com|ally.com|navyfederal.org|usaa.com|sofi.com|discover.com|td.com|rbcroyalbank.com|scotiabank.com|bmo.com|cibc.com|tangerine.ca|desjardins.com",
  ),
  entry("bank", "American Express", "", "american express", "americanexpress.com"),
  entry("bank", "HSBC", "", "hsbc", "hsbc.com|hsbc.co.uk|hsbc.fr|hsbc.com.hk"),
  entry("bank", "Barclays", "", "barclays", "barclays.co.uk|barclays.com"),
  entry(
    "bank",
    "Lloyds, Halifax, NatWest, Santander, Monzo, Starling",
    "monzo|starling bank",
    "lloyds bank|natwest|banco santander|santander bank|santander online|santander consumer|santander uk|mein santander|monzo|starling bank|nationwide building society|first direct|barclaycard",
    "lloydsbank.co.uk|halifax-online.co.uk|natwest.com|nwolb.com|rbsdigital.com|santander.co.uk|santander.com|santander.es|santander.de|santander.pl|monzo.com|starlingbank.com|nationwide.co.uk|firstdirect.com|tsb.co.uk|aib.ie|bankofireland.com",
  ),
  entry("bank", "Sparkasse", "sparkasse|s-push-tan", "sparkasse|s-pushtan", "sparkasse.de"),
  entry(
    "bank",
    "Volksbank",
    "vr banking|vr securego plus",
    "volksbank|raiffeisenbank|vr-networld",
    "vr.de|atruvia.de",
  ),
  entry("bank", "Deutsche Bank", "", "deutsche bank", "deutsche-bank.de|db.com"),
  entry(
    "bank",
    "Commerzbank, comdirect, DKB, ING, Postbank",
    "",
    "commerzbank|comdirect|dkb-banking|dkb banking|deutsche kreditbank|ing-diba|ing banking|postbank",
    "commerzbank.de|comdirect.de|dkb.de|ing.de|ing.nl|ing.com|postbank.de",
  ),
  entry("bank", "BNP Paribas", "", "bnp paribas", "bnpparibas|bnpparibas.com|bnpparibas.net"),
  entry(
    "bank",
    "Crédit Agricole, Société Générale, La Banque Postale, Boursobank",
    "",
    "crédit agricole|crédit mutuel|société générale|la banque postale|boursobank|boursorama banque|caisse d'épargne|banque populaire|fortuneo|hello bank",
    "credit-agricole.fr|creditmutuel.fr|cic.fr|lcl.fr|societegenerale.fr|labanquepostale.fr|boursobank.com|caisse-epargne.fr|banquepopulaire.fr|fortuneo.fr|hellobank.fr",
  ),
  entry(
    "bank",
    "BBVA, CaixaBank",
    "",
    "bbva|caixabank|bankinter|banco sabadell|bancsabadell|openbank|abanca|ibercaja|millennium bcp|caixadirecta|novo banco",
    "bbva.es|bbva.com|caixabank.es|bankinter.com|bancsabadell.com|openbank.es|abanca.com|ibercaja.es|millenniumbcp.pt|cgd.pt|novobanco.pt|activobank.pt",
  ),
  entry(
    "bank",
    "Intesa Sanpaolo, UniCredit",
    "",
    "intesa sanpaolo|unicredit|fineco|bancoposta|banco bpm|banca mediolanum|isybank",
    "intesasanpaolo.com|unicredit.it|fineco.it|finecobank.com|bancobpm.it|bancamediolanum.it|bper.it",
  ),
  entry(
    "bank",
    "UBS, PostFinance, ZKB",
    "",
    "ubs e-banking|postfinance|twint|raiffeisen e-banking|swissquote|bank austria|erste bank|easybank|bawag",
    "ubs.com|postfinance.ch|zkb.ch|raiffeisen.ch|raiffeisen.at|swissquote.com|bankaustria.at|sparkasse.at|easybank.at|bawag.at",
  ),
  entry(
    "bank",
    "ABN AMRO, Rabobank, bunq, KBC",
    "bunq",
    "abn amro|rabobank|bunq|kbc touch|belfius|argenta bank|triodos|asn bank|snsbank",
    "abnamro.nl|rabobank.nl|bunq.com|kbc.be|belfius.be|argenta.be|triodos.nl|asnbank.nl|snsbank.nl|ing.be",
  ),
  entry(
    "bank",
    "Nordea, Danske Bank, Swedbank, SEB, DNB",
    "",
    "nordea|danske bank|swedbank|handelsbanken|dnb nettbank|sparebank|jyske bank|länsförsäkringar bank|s-pankki",
    "nordea.fi|nordea.se|nordea.dk|nordea.no|danskebank.dk|danskebank.com|swedbank.se|swedbank.ee|handelsbanken.se|seb.se|dnb.no|sparebank1.no|jyskebank.dk|op.fi|s-pankki.fi",
  ),
  entry(
    "bank",
    "PKO, mBank, Česká spořitelna, OTP",
    "",
    "pko bank|ipko|mbank|bank pekao|alior bank|bank millennium|moje ing|česká spořitelna|československá obchodní banka|komerční banka|tatra banka|slovenská sporiteľňa|otp bank|banca transilvania|garanti bbva|iş bankası|akbank|alpha bank|eurobank",
    "ipko.pl|pkobp.pl|mbank.pl|pekao24.pl|aliorbank.pl|bankmillennium.pl|ing.pl|csas.cz|csob.cz|kb.cz|mojebanka.cz|fio.cz|fio.sk|tatrabanka.sk|slsp.sk|otpbank.hu|bancatransilvania.ro|bcr.ro|garantibbva.com.tr|isbank.com.tr|akbank.com|ziraatbank.com.tr|alpha.gr|eurobank.gr|piraeusbank.gr|nbg.gr",
  ),
  entry(
    "bank",
    "Sberbank, Tinkoff, Monobank, PrivatBank",
    "",
    "сбербанк|сбербанк онлайн|тинькофф|т-банк|приватбанк|приват24",
    "sberbank.ru|tinkoff.ru|tbank.ru|privatbank.ua|monobank.ua",
  ),
  entry(
    "bank",
    "Banks of Asia and the Pacific",
    "",
    "dbs ibanking|icici bank|hdfc bank|state bank of india|axis bank|kotak mahindra|klikbca|maybank2u|kiwibank|국민은행|신한은행|우리은행|三井住友銀行|ゆうちょ|中国银行|commbank|netbank - logon|westpac|三菱ufj|みずほダイレクト|楽天銀行|招商银行|中国工商银行|中国建设银行|支付宝|alipay",
    "dbs.com.sg|ocbc.com|uob.com.sg|maybank2u.com.my|klikbca.com|icicibank.com|hdfcbank.com|axisbank.com|kotak.com|onlinesbi.sbi|kbstar.com|shinhan.com|smbc.co.jp|jp-bank.japanpost.jp|boc.cn|commbank.com.au|anz.com|nab.com.au|kiwibank.co.nz|westpac.com.au|bk.mufg.jp|rakuten-bank.co.jp|cmbchina.com|icbc.com.cn|ccb.com|alipay.com",
  ),
  entry(
    "bank",
    "Banks of Latin America and Africa",
    "",
    "nubank|itaú|bradesco|banco do brasil|caixa econômica|mercado pago|banorte|bancolombia|banco de chile|capitec|standard bank|nedbank",
    "nubank.com.br|itau.com.br|bradesco.com.br|bb.com.br|caixa.gov.br|mercadopago.com|banorte.com|bancolombia.com|bancochile.cl|capitecbank.co.za|standardbank.co.za|nedbank.co.za|fnb.co.za|absa.co.za",
  ),
  entry(
    "bank",
    "Brokers",
    "trade republic|interactive brokers|tws",
    "trade republic|interactive brokers|fidelity investments|charles schwab|vanguard investor",
    "traderepublic.com|interactivebrokers.com|fidelity.com|schwab.com|robinhood.com|vanguard.com",
  ),
  entry(
    "bank",
    "Tax returns",
    "wiso steuer|elsterformular|taxact|turbotax",
    "mein elster|elster portal|elster - login|turbotax|h&r block",
    "elster.de|turbotax.intuit.com",
  ),
  // ---- health
  entry(
    "health",
    "Health portals",
    "mychart",
    "mychart|patient portal|patientenportal|elektronische patientenakte|gesundheitsakte|betterhelp|doctolib|teladoc|zocdoc",
    "mychart.com|mychart.org|betterhelp.com|doctolib.de|doctolib.fr|teladoc.com|zocdoc.com",
  ),
  // ---- lock screens and greeters
  entry(
    "lock screen",
    "Lock screens",
    "lockapp|lockapp.exe|loginwindow|screensaverengine|i3lock|i3lock-color|betterlockscreen|swaylock|swaylock-effects|gtklock|hyprlock|waylock|xscreensaver|xsecurelock|slock|physlock|xlock|light-locker|kscreenlocker|kscreenlocker_greet|cinnamon-screensaver|mate-screensaver|xfce4-screensaver|gnome-screensaver|gdm|gdm-greeter|lightdm-gtk-greeter|sddm-greeter|sddm-greeter-qt6|ly|tuigreet|logonui|logonui.exe",
  ),
  // ---- secret prompts
  entry(
    "secret prompt",
    "Password prompts",
    "pinentry|pinentry-gtk|pinentry-gtk-2|pinentry-gnome3|pinentry-qt|pinentry-qt5|pinentry-qt6|pinentry-mac|gcr-prompter|org.gnome.gcr.prompter|ssh-askpass|ksshaskpass|lxqt-openssh-askpass|x11-ssh-askpass|gnome-ssh-askpass|seahorse-ssh-askpass|git-gui--askpass|git-credential-manager|securityagent|coreauthd|credentialuibroker|credentialuibroker.exe|consent|consent.exe",
  ),
  entry(
    "secret prompt",
    "Polkit agents",
    "polkit-gnome-authentication-agent-1|polkit-kde-authentication-agent-1|polkit-mate-authentication-agent-1|lxpolkit|lxqt-policykit-agent|xfce-polkit|mate-polkit|hyprpolkitagent|gksu|gksudo|kdesu|kdesudo|pkexec|ukui-polkit",
  ),
  entry(
    "secret prompt",
    "Disk and key tools",
    "veracrypt|truecrypt|zulucrypt-gui|cryptomator|kleopatra|gpa|gpg keychain|gpgkeychain",
  ),
];

/** Names are written as one string with bars between them, so that the list reads as a list. */
function entry(
  category: SeedCategory,
  name: string,
  apps: string,
  titles = "",
  hosts = "",
): SeedEntry {
  return { name, category, apps: split(apps), titles: split(titles), hosts: split(hosts) };
}

function split(names: string): readonly string[] {
  return names === "" ? [] : names.split("|");
}
