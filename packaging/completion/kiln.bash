# bash completion of kiln and kiln-exec. What there is to complete, the tools say themselves.
_kiln() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} tool=${COMP_WORDS[0]} words
  case $previous in
    -p | --platform)
      words=$("$tool" platforms --json 2>/dev/null | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p')
      COMPREPLY=($(compgen -W "$words" -- "$current"))
      return ;;
    --target)
      words=$("$tool" emit --help 2>/dev/null | sed -n 's/^ *--target TEXT[^ ]* *//p' | sed 's/ or / /; s/,//g')
      COMPREPLY=($(compgen -W "$words" -- "$current"))
      return ;;
    cache)
      words=$("$tool" cache --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
      COMPREPLY=($(compgen -W "$words --json --help" -- "$current"))
      return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ] && [ "${tool##*/}" = kiln ]; then
    words=$("$tool" --help 2>/dev/null | sed -n '1,/^Examples:/s/^  kiln \([a-z]*\) .*/\1/p')
    COMPREPLY=($(compgen -W "$words --help --version" -- "$current"))
  elif [[ $current == -* ]]; then
    words=("$tool")
    [ "${tool##*/}" != kiln ] || words+=("${COMP_WORDS[1]}")
    [ "${COMP_WORDS[1]}" != cache ] || [ "$COMP_CWORD" -lt 3 ] || words+=("${COMP_WORDS[2]}")
    words=$("${words[@]}" --help 2>/dev/null | grep -oE '^ +(-[a-z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+')
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _kiln kiln kiln-exec
