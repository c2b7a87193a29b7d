package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigs "sigs.k8s.io/yaml"
)

// The same function on three libraries: every Deployment gets five replicas, and the first container of it another image.
var functions = map[string]func() error{
	"fn-kyaml":  scaleWithKyaml,
	"fn-sigs":   scaleWithSigs,
	"fn-goyaml": scaleWithNodes,
}

const (
	replicas = 5
	image    = "web:2.0"
)

// scaleWithKyaml is what most functions in Go are built on; comments travel in its nodes.
func scaleWithKyaml() error {
	scale := kio.FilterFunc(func(items []*kyaml.RNode) ([]*kyaml.RNode, error) {
		for _, item := range items {
			if item.GetKind() != "Deployment" {
				continue
			}
			number := kyaml.NewScalarRNode(fmt.Sprint(replicas))
			if err := item.PipeE(kyaml.Lookup("spec"), kyaml.SetField("replicas", number)); err != nil {
				return nil, err
			}
			name := kyaml.SetField("image", kyaml.NewStringRNode(image))
			if err := item.PipeE(kyaml.Lookup("spec", "template", "spec", "containers", "0"), name); err != nil {
				return nil, err
			}
		}
		return items, nil
	})
	list := &kio.ByteReadWriter{Reader: os.Stdin, Writer: os.Stdout, KeepReaderAnnotations: true}
	return kio.Pipeline{Inputs: []kio.Reader{list}, Filters: []kio.Filter{scale}, Outputs: []kio.Writer{list}}.Execute()
}

// scaleWithSigs reads into maps, by way of JSON: comments, order, quotes and anchors are gone.
func scaleWithSigs() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var list map[string]any
	if err := sigs.Unmarshal(text, &list); err != nil {
		return err
	}
	items, _ := list["items"].([]any)
	for _, item := range items {
		scale(item)
	}
	output, err := sigs.Marshal(list)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(output)
	return err
}

func scale(item any) {
	resource, _ := item.(map[string]any)
	if resource["kind"] != "Deployment" {
		return
	}
	spec := resource["spec"].(map[string]any)
	spec["replicas"] = replicas
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	pod["containers"].([]any)[0].(map[string]any)["image"] = image
}

// scaleWithNodes reads into the nodes of Go's YAML library and prints them by its own indentation.
func scaleWithNodes() error {
	var document yaml.Node
	if err := yaml.NewDecoder(os.Stdin).Decode(&document); err != nil {
		return err
	}
	for _, item := range field(document.Content[0], "items").Content {
		if field(item, "kind").Value != "Deployment" {
			continue
		}
		spec := field(item, "spec")
		field(spec, "replicas").Value = fmt.Sprint(replicas)
		containers := field(field(field(spec, "template"), "spec"), "containers")
		field(containers.Content[0], "image").Value = image
	}
	var output bytes.Buffer
	if err := yaml.NewEncoder(&output).Encode(&document); err != nil {
		return err
	}
	_, err := os.Stdout.Write(output.Bytes())
	return err
}

func field(mapping *yaml.Node, name string) *yaml.Node {
	for at := 0; at+1 < len(mapping.Content); at += 2 {
		if mapping.Content[at].Value == name {
			return mapping.Content[at+1]
		}
	}
	return &yaml.Node{}
}
